-- stock_books.lua: a part of the stock scripts: a segment's numbers and events.
-- KEYS as of those scripts
-- ARGV[1] segments of the sale, 0 any
-- returns s: the numbers that were loaded; save(), which stores what changed;
--      event(kind, user, hold); is_open()
local s, was = {}, {}
local function load(...)
    local got = call('HMGET', head, ...)
    for i, name in ipairs({...}) do
        local value = tonumber(got[i]) or got[i]
        s[name], was[name] = value, value
    end
end
load('segments', 'avail', 'held', 'events', 'last', 'due', 'limit', 'hold',
    'opens', 'closes', 'ended')
if not s.segments then
    return {9, 0, 0, now}
end
if ARGV[1] ~= '0' and tonumber(ARGV[1]) ~= s.segments then
    return {10, 0, 0, now}
end
local function save()
    local list = {}
    for name, value in pairs(s) do
        if value ~= was[name] then
            list[#list + 1] = name
            list[#list + 1] = whole(value)
        end
    end
    if list[1] then
        call('HSET', head, unpack(list))
    end
end
local function event(kind, user, r)
    s.events = s.events + 1
    if now > s.last then
        s.last = now
    end
    call('XADD', events, s.last .. '-' .. s.events, 'e', kind .. ' ' .. user
        .. ' ' .. r.order .. ' ' .. r.id .. ' ' .. r.units)
end
local function is_open()
    return s.ended == 0 and now >= s.opens
        and (s.closes == 0 or now < s.closes)
end
