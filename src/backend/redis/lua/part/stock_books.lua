-- stock_books.lua: a part of the stock scripts: a segment's numbers, its events,
--      and its users' reservations.
-- KEYS as of those scripts: numbers, users, events, extended reservations
-- ARGV[1] segments of the sale, 0 any
-- returns s: the numbers that were loaded; save(), which stores what changed
-- A user's reservations are "id,units,order,born ms,stage[until ms],nonce;" each.
local call = redis.call
local head, users, events = KEYS[1], KEYS[2], KEYS[3]
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
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
            list[#list + 1] = value < 1e14 and value .. ''
                or string.format('%.0f', value)
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
    if kind == 'R' then
        r.order, r.born = s.events, s.last
    end
    call('XADD', events, s.last .. '-' .. s.events, 'e', kind .. ' ' .. user
        .. ' ' .. r.order .. ' ' .. r.id .. ' ' .. r.units)
end
local function holds_of(text)
    local list = {}
    for id, units, order, born, stage, till, nonce in (text or ''):gmatch(
            '([^,;]*),(%d+),(%d+),(%d+),(%a)(%d*),([^;]*);') do
        list[#list + 1] = {id = id, units = tonumber(units),
            order = tonumber(order), born = tonumber(born), stage = stage,
            till = tonumber(till), nonce = nonce}
    end
    return list
end
local function text_of(r)
    return r.id .. ',' .. r.units .. ',' .. r.order .. ',' .. r.born .. ','
        .. r.stage .. (r.till or '') .. ',' .. r.nonce .. ';'
end
local function is_held(r)
    return r.stage == 'H' or r.stage == 'P'
end
local function is_open()
    return s.ended == 0 and now >= s.opens
        and (s.closes == 0 or now < s.closes)
end
local function units_of(list)
    local units, records = 0, 0
    for _, r in ipairs(list) do
        if is_held(r) or r.stage == 'S' then
            units, records = units + r.units, records + 1
        end
    end
    return units, records
end
local function told(says, r, changed, late)
    local states = {H = 1, P = 1, S = 2, K = 3, X = 4, F = 4}
    local left = is_held(r)
        and math.max((r.till or r.born + s.hold) - now, 0) or 0
    return {says, states[r.stage], changed, now, late, r.order, r.units, left,
        r.nonce}
end
