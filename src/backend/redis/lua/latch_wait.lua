-- latch_wait.lua: tell whether the latch is open; changes nothing.
-- KEYS[1] latch  KEYS[2] facts  KEYS[3] permits that are out: of another kind
-- ARGV when this wait last found it closed, in us of this server (0: never)
-- returns {1 open | 0 closed | -3 no latch | -4 a number of another kind
--      | -6 it was deleted since, count or the kind, now us}
local pcall = redis.pcall
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local text = pcall('GET', KEYS[1])
local facts = pcall('HMGET', KEYS[2], 'kind', 'deleted')
local out = pcall('EXISTS', KEYS[3])
for _, r in ipairs({text or '', facts, out}) do
    if type(r) == 'table' and r.err then
        return r.err:find('WRONGTYPE', 1, true) and {-3, 0, now} or r
    end
end
if text and not text:find('^-?%d+$') then
    return {-3, 0, now}
end
local other = text and facts[1] and facts[1] ~= 'latch' and facts[1]
    or out == 1 and 'permit'
if other then
    return {-4, other, now}
end
local seen = tonumber(ARGV[1])
if seen > 0 and tonumber(facts[2] or 0) >= seen then
    return {-6, 0, now}
end
local count = tonumber(text or 0)
return {count > 0 and 0 or 1, math.max(count, 0), now}
