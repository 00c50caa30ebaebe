-- barrier_look.lua: tell how many parties wait at a barrier; changes nothing.
-- KEYS[1] barrier  KEYS[2] parties that wait
-- ARGV none
-- returns {1 | -3 no barrier, how many wait, now us, parties}
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local facts = redis.pcall('HGET', KEYS[1], 'barrier')
if type(facts) == 'table' then
    return facts.err:find('WRONGTYPE', 1, true) and {-3, 0, now, 0} or facts
end
local parties = facts and facts:match('^v2 (%d+) %d+$')
if not parties then
    local is_other = facts or redis.call('EXISTS', KEYS[1]) == 1
    return {is_other and -3 or 1, 0, now, 0}
end
local ms = string.format('%.0f', math.floor(now / 1000))
return {1, redis.call('ZCOUNT', KEYS[2], ms, '+inf'), now, tonumber(parties)}
