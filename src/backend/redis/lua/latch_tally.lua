-- latch_tally.lua: tell or change the count of a latch, once.
-- KEYS[1] latch  KEYS[2] facts  KEYS[3] permits that are out: of another kind
--      KEYS[4] mark: this change was made
-- ARGV verb, number, channel, when it was sent in us, how old it may be in us,
--      life ms of the mark, life ms of a deletion; 8th,
--      letters: s the messages are sharded, b and always go out both ways; o
--      not if another program may have made it
-- returns {1 done | 0 not done: it is set already, or not at all | -2 it came
--      too late | -3 no latch | -4 a number of another kind | -5 another
--      program's, count or the kind, now us, processes told or -1}
local call, pcall, arg = redis.call, redis.pcall, ARGV
local name, facts, mark, verb = KEYS[1], KEYS[2], KEYS[4], ARGV[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local text = pcall('GET', name)
local kind = pcall('HGET', facts, 'kind')
local out = pcall('EXISTS', KEYS[3])
for _, r in ipairs({text or '', kind or '', out}) do
    if type(r) == 'table' then
        return r.err:find('WRONGTYPE', 1, true) and {-3, 0, now, -1} or r
    end
end
if text and not text:find('^-?%d+$') then
    return {-3, 0, now, -1}
end
local other = text and kind and kind ~= 'latch' and kind
    or out == 1 and 'permit'
if other then
    return {-4, other, now, -1}
end
local letters = arg[8] or ''
if text and not kind and letters:find('o', 1, true) then
    return {-5, 0, now, -1}
end
local count = math.max(tonumber(text or 0), 0)
if verb == 'read' then
    return {1, count, now, -1}
end
local made = call('GET', mark)
if made then
    return {1, tonumber(made), now, -1}
end
-- A copy that was delayed for long must not undo what came after it.
if now > tonumber(arg[4]) + tonumber(arg[5]) then
    return {-2, count, now, -1}
end
if (verb == 'open') == (count > 0) then
    return {0, count, now, -1}
end
local left = verb == 'open' and tonumber(arg[2]) or verb == 'down' and count - 1
    or 0
local number = string.format('%.0f', left)
-- Note a fact with an expiry; without one it is deleted.
local function note(field, value, life)
    local r = pcall('HSET', facts, field, value)
    if type(r) == 'number' then
        r = pcall('PEXPIRE', facts, life)
        if type(r) == 'table' then
            pcall('DEL', facts)
        end
    end
end
-- Free memory first: a server whose memory is full accepts nothing else.
if left == 0 then
    call('DEL', name)
    pcall('HDEL', facts, 'kind')
    pcall('PEXPIRE', facts, arg[7])
    if verb == 'delete' then
        local last = pcall('HGET', facts, 'deleted')
        last = type(last) == 'string' and tonumber(last) or 0
        note('deleted', string.format('%.0f', math.max(now, last + 1)), arg[7])
    end
end
local r = pcall('SET', mark, number, 'PX', arg[6])
if r.err and left > 0 then
    return r
end
if left > 0 then
    r = verb == 'open' and pcall('SET', name, number) or pcall('DECR', name)
    if type(r) == 'table' and r.err then
        pcall('DEL', mark)
        return r
    end
end
-- Which kind it is, for 30 days after its last change.  Another program's
-- number stays that.
if verb == 'open' or left > 0 and kind then
    note('kind', 'latch', 2592000000)
end
local told = -1
if left == 0 or verb == 'open' then
--@include publish
    told = publish(letters:find('s', 1, true) and letters, arg[3],
        verb == 'open' and '1' or '0')
end
return {1, left, now, type(told) == 'number' and told or -1}
