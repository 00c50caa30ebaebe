-- stock_move.lua: what moves units to, from and between segments, and tells
--      their numbers.
-- KEYS[1] numbers  KEYS[2] users  KEYS[3] events  KEYS[4] extended reservations
-- ARGV segments, what to do, units, other segment, number, request id
-- returns {says, 0, changed, now ms, units, number}; look and end: more, see
--      below
--@include stock_now
--@include stock_books
--@include stock_holds
--@include stock_sweep
load('max', 'first', 'init', 'in', 'out', 'sold')
local what, units, peer = ARGV[2], tonumber(ARGV[3]), ARGV[4]
local number = tonumber(ARGV[5])
local says, changed, aside = 0, 0, 'aside:' .. peer
-- Units put aside for a segment: "number,units".
local function put_aside(field)
    local n, u = (call('HGET', head, field) or ''):match('^(%d+),(%d+)$')
    return tonumber(n), tonumber(u)
end
if what == 'accept' then
    local last = tonumber(call('HGET', head, 'taken:' .. peer) or '0')
    if number > last then
        call('HSET', head, 'taken:' .. peer, ARGV[5])
        s.avail, s['in'] = s.avail + units, s['in'] + units
        s.dry, s.gone, changed = 0, 0, 1
    end
elseif what == 'ack' then
    if put_aside(aside) == number then
        call('HDEL', head, aside)
        changed = 1
    end
elseif what == 'gone' then
    s.gone, s.dry = now + 250, 0
elseif what == 'restock' then
    local before = call('HGET', head, 'restock:' .. ARGV[6])
    if before then
        says = before == ARGV[3] and 0 or 3
    elseif s.ended == 1 then
        says = 6
    else
        call('HSET', head, 'restock:' .. ARGV[6], ARGV[3])
        s.init, s.avail = s.init + units, s.avail + units
        s.dry, s.gone, changed = 0, 0, 1
    end
else
    sweep(100)
end
if what == 'donate' then
    local has, left = put_aside(aside)
    number, units = has or 0, left or 0
    if not has and s.avail > 0 then
        -- At least half, so that few transfers move much.
        units = math.min(s.avail,
            math.max(tonumber(ARGV[3]), math.floor(s.avail / 2)))
        -- Of the clock, so that a number which a failover lost is not used
        -- again.
        number = math.max(now,
            tonumber(call('HGET', head, 'given:' .. peer) or '0') + 1)
        call('HSET', head, 'given:' .. peer, number .. '', aside,
            number .. ',' .. units)
        s.avail, s.out, changed = s.avail - units, s.out + units, 1
    end
elseif what == 'end' then
    changed, s.ended = 1 - s.ended, 1
end
save()
if what ~= 'look' and what ~= 'end' then
    return {says, 0, changed, now, units, number}
end
-- The segment, and for each transfer put aside: to, number, units.
local list = {0, 0, changed, now, s.segments, s.ended, s.limit, s.hold, s.max,
    s.opens, s.closes, s.first, s.init, s['in'], s.out, s.avail, s.held,
    s.sold, s.events}
if s.out > 0 and s.segments > 1 then
    for i = 0, s.segments - 1 do
        local n, u = put_aside('aside:' .. i)
        if n then
            list[#list + 1], list[#list + 2], list[#list + 3] = i, n, u
        end
    end
end
return list
