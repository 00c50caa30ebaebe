-- count_acquire.lua: take some off a plain counter, all or none.
-- KEYS[1] counter  KEYS[2] facts  KEYS[3] permits that are out: of another kind
--      KEYS[4] mark: this attempt was given up  KEYS[5] recent attempts
-- ARGV id, how many, T, window us, life ms of what is remembered; then, from a
--      caller that knows what the counter is to begin with: that number,
--      channel, letters: s the messages are sharded, b and always go out both
--      ways
-- returns {1 taken | 0 too few | -1 stale | -3 no counter | -4 a counter of
--      another kind, 0 or the kind, now us, -1, 0}
local call, pcall, arg = redis.call, redis.pcall, ARGV
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local ms = math.floor(now / 1000)
local text = pcall('GET', KEYS[1])
local kind = pcall('HGET', KEYS[2], 'kind')
for _, r in ipairs({text or '', kind or ''}) do
    if type(r) == 'table' then
        return r.err:find('WRONGTYPE', 1, true) and {-3, 0, now, -1, 0} or r
    end
end
if text and not text:find('^-?%d+$') then
    return {-3, 0, now, -1, 0}
end
local other = text and kind and kind ~= 'count' and kind
    or call('EXISTS', KEYS[3]) == 1 and 'permit'
if other then
    return {-4, other, now, -1, 0}
end
if tonumber(call('ZSCORE', KEYS[5], arg[1]) or 0) > ms then
    return {1, 0, now, -1, 0}
end
if call('EXISTS', KEYS[4]) == 1 or tonumber(arg[3]) < now - arg[4] then
    return {-1, tonumber(arg[3]), now, -1, 0}
end
if not text and arg[6] then
    text = pcall('INCRBY', KEYS[1], arg[6])
    if type(text) == 'table' then
        return text
    end
    kind = 'count'
    pcall('HSET', KEYS[2], 'kind', kind)
    pcall('PEXPIRE', KEYS[2], 2678400000)
--@include publish
    publish(arg[8], arg[7], arg[6])
end
if tonumber(text or 0) < tonumber(arg[2]) then
    return {0, 0, now, -1, 0}
end
local r = pcall('ZADD', KEYS[5], string.format('%.0f', ms + arg[5]), arg[1])
if type(r) == 'table' then
    return r
end
r = pcall('DECRBY', KEYS[1], arg[2])
if type(r) == 'table' then
    call('ZREM', KEYS[5], arg[1])
    return r
end
call('ZREMRANGEBYSCORE', KEYS[5], '-inf', ms)
if call('PTTL', KEYS[5]) < tonumber(arg[5]) then
    call('PEXPIRE', KEYS[5], arg[5])
end
-- Which kind it is, for 30 days after it was last used; told anew once a day.
if kind and call('PTTL', KEYS[2]) < 2592000000 then
    call('PEXPIRE', KEYS[2], 2678400000)
end
return {1, 0, now, -1, 0}
