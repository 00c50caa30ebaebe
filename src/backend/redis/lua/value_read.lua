-- value_read.lua: read a versioned value; changes nothing.
-- KEYS[1] key
-- ARGV none
-- returns {version | 0 there is none | -1 what is there is no value, now us,
--      ttl ms or -1, value}
local call, key = redis.call, KEYS[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local has = redis.pcall('HMGET', key, 'version', 'value', 'by')
if has.err then
    if not has.err:find('WRONGTYPE', 1, true) then
        return has
    end
    return {-1, now, -1, ''}
end
local version = tonumber(has[1] or '')
-- A whole number that Lua can count on from, or what is there is not ours.
local is_version = version and version >= 1 and version < 2 ^ 53
    and version % 1 == 0
if is_version and has[2] and has[3] and call('HLEN', key) == 3 then
    return {version, now, call('PTTL', key), has[2]}
end
return {-call('EXISTS', key), now, -1, ''}
