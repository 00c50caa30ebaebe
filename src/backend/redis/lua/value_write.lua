-- value_write.lua: set or delete a value if it has the expected version.
-- KEYS[1] key
-- ARGV version expected or "*", "<owner> <attempt>", ttl ms (0 no end), when it
--      was sent in us, how old it may be in us, value (absent: delete)
-- returns {1 done | 0 it has another version | -1 what is there is no value
--      | -2 it came too late, version, now us}
local call, key, arg = redis.call, KEYS[1], ARGV
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
-- A copy that was delayed for long must not undo what came after it.
if now > tonumber(arg[4]) + tonumber(arg[5]) then
    return {-2, 0, now}
end
local has = redis.pcall('HMGET', key, 'version', 'value', 'by')
if has.err then
    if not has.err:find('WRONGTYPE', 1, true) then
        return has
    end
    return {-1, 0, now}
end
local version = tonumber(has[1] or '')
-- A whole number that Lua can count on from, or what is there is not ours.
local is_version = version and version >= 1 and version < 2 ^ 53
    and version % 1 == 0
if not (is_version and has[2] and has[3] and call('HLEN', key) == 3) then
    if call('EXISTS', key) == 1 then
        return {-1, 0, now}
    end
    version = 0
end
if has[3] == arg[2] then
    return {1, version, now}
end
if arg[1] ~= '*' and tonumber(arg[1]) ~= version then
    return {0, version, now}
end
if not arg[6] then
    call('DEL', key)
    return {1, 0, now}
end
local is_new = version == 0
version = math.max(version + 1, now)
call('HSET', key, 'version', string.format('%.0f', version), 'value', arg[6],
    'by', arg[2])
local ends = 1
if arg[3] ~= '0' then
    ends = redis.pcall('PEXPIRE', key, arg[3])
elseif not is_new then
    ends = redis.pcall('PERSIST', key)
end
-- A value that would expire at another time than asked for must not stay.
if type(ends) == 'table' then
    if is_new then
        redis.pcall('DEL', key)
    else
        call('HSET', key, 'version', has[1], 'value', has[2], 'by', has[3])
    end
    return ends
end
return {1, version, now}
