-- latch_wait.lua: tell whether the latch is open; changes nothing.
-- KEYS[1] latch  KEYS[2] facts  KEYS[3] permits that are out: of another kind
-- ARGV the last deletion when this wait found it closed (0: it never did)
-- returns {1 open | 0 closed | -3 no latch | -4 a number of another kind
--      | -6 it was deleted since, count or the kind, now us, the last deletion
--      (1: none is known)}
local pcall = redis.pcall
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local text = pcall('GET', KEYS[1])
local facts = pcall('HMGET', KEYS[2], 'kind', 'deleted')
local out = pcall('EXISTS', KEYS[3])
for _, r in ipairs({text or '', facts, out}) do
    if type(r) == 'table' and r.err then
        return r.err:find('WRONGTYPE', 1, true) and {-3, 0, now, 1} or r
    end
end
if text and not text:find('^-?%d+$') then
    return {-3, 0, now, 1}
end
local other = text and facts[1] and facts[1] ~= 'latch' and facts[1]
    or out == 1 and 'permit'
if other then
    return {-4, other, now, 1}
end
-- Another deletion than before, whatever this server's clock did meanwhile.
local seen, deleted = tonumber(ARGV[1]), tonumber(facts[2] or 1)
if seen > 0 and deleted > 1 and deleted ~= seen then
    return {-6, 0, now, deleted}
end
local count = tonumber(text or 0)
return {count > 0 and 0 or 1, math.max(count, 0), now, deleted}
