-- permit_inspect.lua: tell about a semaphore; changes nothing.
-- KEYS[1] available  KEYS[2] permits that are out  KEYS[3] facts
--      KEYS[4] fence counter  KEYS[5] queue
-- ARGV owner, id or "", channel; 4th: it is sharded
-- returns {1 there is one | 0 there is none | -3 no semaphore | -4 a counter of
--      another kind, now us, counter or the kind, subscribers or -1,
--      available, out, ttl ms of the first to end (of the id, if it is out) or
--      -1, waiters, owner's place in the queue or 0, 1 if the owner (or the id)
--      has some, record of one holder or false}
local call, pcall = redis.call, redis.pcall
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local ms = math.floor(now / 1000)
local text = pcall('GET', KEYS[1])
local first = pcall('ZRANGEBYSCORE', KEYS[2], ms + 1, '+inf', 'WITHSCORES',
    'LIMIT', 0, 1)
local page = pcall('HSCAN', KEYS[3], 0, 'COUNT', 64)
for _, r in ipairs({text or '', first, page}) do
    if type(r) == 'table' and r.err then
        return r.err:find('WRONGTYPE', 1, true)
            and {-3, now, 0, -1, 0, 0, -1, 0, 0, 0, false} or r
    end
end
if text and not text:find('^-?%d+$') then
    return {-3, now, 0, -1, 0, 0, -1, 0, 0, 0, false}
end
local mine, record, kind = 0, false, nil
for i = 1, #page[2], 2 do
    local field, has = page[2][i], page[2][i + 1]
    if field == 'kind' then
        kind = has
    elseif (tonumber(call('ZSCORE', KEYS[2], field .. '\0\0') or 0)) > ms then
        local is_mine = has:find('v1 ' .. ARGV[1] .. ' ', 1, true) == 1
        if is_mine and ARGV[2] == '' then
            mine = 1
        end
        if not record or is_mine then
            record = has:sub(1, 512)
        end
    end
end
local own = ARGV[2] ~= '' and call('ZSCORE', KEYS[2], ARGV[2] .. '\0\0')
if own and tonumber(own) > ms then
    mine = 1
end
if text and kind and kind ~= 'permit' then
    return {-4, now, kind, -1, 0, 0, -1, 0, 0, 0, false}
end
local ended = call('ZCOUNT', KEYS[2], '-inf', ms)
local card = call('ZCARD', KEYS[2])
local fence = pcall('GET', KEYS[4])
--@include publish
local place = call('ZRANK', KEYS[5], ARGV[1])
local ends = mine == 1 and own or first[2]
local left = ends and tonumber(ends) < 922337203685477
    and tonumber(ends) - ms or -1
return {(text or card > 0) and 1 or 0, now,
    type(fence) == 'string' and tonumber(fence) or 0,
    listeners(ARGV[4], ARGV[3]), tonumber(text or 0) + ended, card - ended,
    left,
    call('ZCARD', KEYS[5]), place and place + 1 or 0, mine, record}
