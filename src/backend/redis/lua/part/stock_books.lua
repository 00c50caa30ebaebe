-- stock_books.lua: a part of the stock scripts: a segment's numbers, its users'
--      reservations, its events, and the sweep.
-- KEYS as of those scripts: numbers, users, events, extended reservations
-- ARGV[1] segments of the sale, 0 any
-- returns s: the numbers; save(), which stores them; and what is below
-- A user's reservations are "id,units,order,born ms,stage[until ms],nonce;" each.
local call = redis.call
local head, users, events, extended = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local never, kept = 9000000000000000, 16
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local names = {'segments', 'avail', 'held', 'sold', 'events', 'last', 'due',
    'dry', 'gone', 'limit', 'hold', 'opens', 'closes', 'ended', 'swept',
    'max', 'first', 'init', 'in', 'out'}
local was = call('HMGET', head, unpack(names))
if not was[1] then
    return {9, 0, 0, now}
end
if ARGV[1] ~= '0' and ARGV[1] ~= was[1] then
    return {10, 0, 0, now}
end
local s = {}
for i, name in ipairs(names) do
    s[name] = name == 'swept' and was[i] or tonumber(was[i])
end
local function save()
    local list = {}
    for i, name in ipairs(names) do
        local text = s[name]
        if type(text) == 'number' then
            text = string.format('%.0f', text)
        end
        if text ~= was[i] then
            list[#list + 1] = name
            list[#list + 1] = text
        end
    end
    if list[1] then
        call('HSET', head, unpack(list))
    end
end
local function event(kind, user, r)
    s.events = s.events + 1
    s.last = math.max(s.last, now)
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
    return string.format('%s,%.0f,%.0f,%.0f,%s%s,%s;', r.id, r.units, r.order,
        r.born, r.stage, r.till and string.format('%.0f', r.till) or '',
        r.nonce)
end
local function is_held(r)
    return r.stage == 'H' or r.stage == 'P'
end
-- Store them, without the oldest of the ended ones if they are too many.
local function holds_save(user, list)
    local parts, ended = {}, 0
    for i = #list, 1, -1 do
        local r = list[i]
        if not is_held(r) and r.stage ~= 'S' then
            ended = ended + 1
        end
        if is_held(r) or r.stage == 'S' or ended <= kept then
            table.insert(parts, 1, text_of(r))
        end
    end
    call('HSET', users, user, table.concat(parts))
end
local function member_of(user, r)
    return string.format('%016.0f:%s', r.order, user)
end
local function give_back(user, r, stage, kind)
    if r.stage == 'P' then
        call('ZREM', extended, member_of(user, r))
    end
    s.held, s.avail = s.held - r.units, s.avail + r.units
    s.dry, s.gone = 0, 0
    r.stage, r.till = stage, nil
    event(kind, user, r)
end
local function expire(user, order, stage)
    local list = holds_of(call('HGET', users, user))
    for _, r in ipairs(list) do
        if r.order == order and r.stage == stage then
            give_back(user, r, 'X', 'X')
            holds_save(user, list)
            return
        end
    end
end
-- Expire what is due, looking at no more than `most` of each list.
local function sweep(most)
    if now < s.due then
        return
    end
    s.due = never
    for _, member in ipairs(call('ZRANGEBYSCORE', extended, '-inf', now,
            'LIMIT', 0, most)) do
        local order, user = member:match('^(%d+):(.*)$')
        expire(user, tonumber(order), 'P')
    end
    local first = call('ZRANGE', extended, 0, 0, 'WITHSCORES')[2]
    local ms, seq = s.swept:match('^(%d+)-(%d+)$')
    local rows = call('XRANGE', events, ms .. '-' .. seq + 1, '+', 'COUNT',
        most)
    if #rows == most then
        s.due = 0
    end
    if first then
        s.due = math.min(s.due, tonumber(first))
    end
    for _, row in ipairs(rows) do
        local born = tonumber(row[1]:match('^%d+'))
        local kind, user, order = row[2][2]:match('^(%a) (%S+) (%d+)')
        if kind == 'R' then
            if born + s.hold > now then
                s.due = math.min(first and tonumber(first) or never,
                    born + s.hold)
                return
            end
            expire(user, tonumber(order), 'H')
        end
        s.swept = row[1]
    end
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
local states = {H = 1, P = 1, S = 2, K = 3, X = 4, F = 4}
local function told(says, r, changed, late)
    local left = is_held(r)
        and math.max((r.till or r.born + s.hold) - now, 0) or 0
    return {says, states[r.stage], changed, now, late, r.order, r.units, left,
        r.nonce}
end
