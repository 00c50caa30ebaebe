-- barrier_leave.lua: a party stops waiting, and an older request of it that
-- comes late does not count as its arrival.
-- KEYS[1] barrier  KEYS[2] parties that wait  KEYS[3] that passed
--      KEYS[4] that left
-- ARGV owner, T, window us
-- returns -1 it waited | -2 it did not
local call, owner = redis.call, ARGV[1]
local facts = redis.pcall('HGET', KEYS[1], 'barrier')
if type(facts) == 'table' or not facts and call('EXISTS', KEYS[1]) == 1
    or facts and not facts:find('^v2 %d+ %d+$')
    or call('ZSCORE', KEYS[3], owner) then
    return -2
end
local was = call('ZREM', KEYS[2], owner)
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
-- Remembered for as long as a request under this number is not too old.
local life = math.ceil((math.max(ARGV[2] - now, 0) + ARGV[3]) / 1000) + 1000
call('ZREMRANGEBYSCORE', KEYS[4], '-inf',
    '(' .. string.format('%.0f', now - ARGV[3] - 1000000))
call('ZADD', KEYS[4], ARGV[2], owner)
local ends = redis.pcall('PEXPIRE', KEYS[4], string.format('%.0f', life))
if type(ends) == 'table' then
    redis.pcall('DEL', KEYS[4])
    return ends
end
return was == 1 and -1 or -2
