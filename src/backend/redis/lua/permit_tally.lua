-- permit_tally.lua: tell or change how many permits there are, once.
-- KEYS[1] available  KEYS[2] permits that are out  KEYS[3] facts
--      KEYS[4] mark: this change was made
-- ARGV "permit" or "count", verb, number, channel, when it was sent in us, how
--      old it may be in us, life ms of the mark; 8th, letters: s the messages
--      are sharded, b and always go out both ways; f also below what is out;
--      i only if there is one; o not if another program may have made it
-- returns {1 done | 0 not done: there is one already, or none | -2 it came too
--      late | -3 no semaphore | -4 a counter of another kind | -5 more are out
--      than would be left | -6 another program's, now us, 1 if there is one or
--      the other kind, available, all there are, out or taken, processes told
--      or -1}
local call, pcall, arg = redis.call, redis.pcall, ARGV
local name, out, facts, mark = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local kind, verb, number = arg[1], arg[2], tonumber(arg[3])
local letters = arg[8] or ''
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local ms = math.floor(now / 1000)
local text = pcall('GET', name)
local is_of = pcall('HGET', facts, 'kind')
local card = pcall('ZCARD', out)
for _, r in ipairs({text or '', is_of or '', card}) do
    if type(r) == 'table' then
        return r.err:find('WRONGTYPE', 1, true) and {-3, now, 0, 0, 0, 0, -1}
            or r
    end
end
if text and not text:find('^-?%d+$') then
    return {-3, now, 0, 0, 0, 0, -1}
end
local other = text and is_of and is_of ~= kind and is_of
    or kind == 'count' and card > 0 and 'permit'
if other then
    return {-4, now, other, 0, 0, 0, -1}
end
-- Neither a kind, nor permits that are out, nor a token: nothing shows that it
-- is a semaphore with leases, or ours.
if text and not is_of and card == 0 and letters:find('o', 1, true)
    and pcall('EXISTS', (arg[4]:gsub('^redisson_sc:', 'redisson_lock_token:')))
        ~= 1 then
    return {-6, now, 0, 0, 0, 0, -1}
end
local is_there = (text or card > 0) and 1 or 0
local ended = card > 0 and call('ZCOUNT', out, '-inf', ms) or 0
local value, all = tonumber(text or 0), tonumber(text or 0) + card
local function told(code, number_taken, heard)
    return {code, now, is_there, value + ended, kind == 'permit' and all or 0,
        number_taken or card - ended, heard or -1}
end
if verb == 'read' then
    return told(1)
end
local made = call('GET', mark)
if made then
    return told(1, verb == 'drain' and tonumber(made) or nil)
end
-- A copy that was delayed for long must not undo what came after it.
if now > tonumber(arg[5]) + tonumber(arg[6]) then
    return told(-2)
end
if verb == 'open' and text or verb == 'add' and not text
    and letters:find('i', 1, true) then
    return told(0)
end
if verb == 'delete' then
    local was = call('DEL', name, out, facts)
    pcall('SET', mark, '0', 'PX', arg[7])
    is_there, value, all, card, ended = 0, 0, 0, 0, 0
    return told(was > 0 and 1 or 0)
end
local taken = verb == 'drain' and math.max(value, 0) or nil
local more = number
if verb == 'drain' then
    more = 0 - taken
elseif verb ~= 'add' then
    more = number - (kind == 'permit' and all or value)
end
if kind == 'permit' and more < 0 and all + more < card - ended
    and not letters:find('f', 1, true) then
    return told(-5)
end
-- First what a full server takes, for it must be possible to give back.
if verb == 'add' and number > 0 then
    call('DEL', mark)
end
local r = pcall('SET', mark, string.format('%.0f', taken or 0), 'PX', arg[7])
if r.err then
    return r
end
r = pcall('INCRBY', name, string.format('%.0f', more))
if type(r) == 'table' then
    call('DEL', mark)
    return r
end
is_there, value, all = 1, value + more, all + more
-- Which kind it is, for 30 days after it was last used; told anew once a day.
if verb == 'open' or verb == 'set' or not text then
    pcall('HSET', facts, 'kind', kind)
    is_of = kind
end
local life = is_of and pcall('PTTL', facts) or -2
if type(life) == 'number' and life ~= -2 and life < 2592000000 then
    pcall('PEXPIRE', facts, 2678400000)
end
local heard = -1
if more > 0 and value > 0 then
--@include publish
    heard = publish(letters:find('s', 1, true) and letters, arg[4],
        string.format('%.0f', value))
end
return told(1, taken, type(heard) == 'number' and heard or -1)
