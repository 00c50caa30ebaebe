-- stock_sweep.lua: a part of the stock scripts, behind stock_books: giving units
--      back, by hand and by the hold time.
-- KEYS as of those scripts
-- ARGV none
-- returns give_back(user, hold, stage and event); holds_save(user, holds);
--      sweep(most), which expires what is due, up to `most` of each list
local extended, never, kept = KEYS[4], 90000000000000, 16
-- Store them, without the oldest of the ended ones if they are too many.
local function holds_save(user, list)
    local parts, ended = {}, 0
    for i = #list, 1, -1 do
        local r = list[i]
        local lives = is_held(r) or r.stage == 'S'
        ended = ended + (lives and 0 or 1)
        if lives or ended <= kept then
            table.insert(parts, 1, text_of(r))
        end
    end
    call('HSET', users, user, table.concat(parts, ';'))
end
local function member_of(user, r)
    return string.format('%016.0f:%s', r.order, user)
end
local function give_back(user, r, stage)
    if r.stage == 'P' then
        call('ZREM', extended, member_of(user, r))
    end
    s.held, s.avail = s.held - r.units, s.avail + r.units
    s.dry, s.gone = 0, 0
    r.stage, r.till = stage, nil
    event(stage, user, r)
end
local function expire(user, order, stage)
    local list = holds_of(call('HGET', users, user))
    for _, r in ipairs(list) do
        if r.order == order and r.stage == stage then
            give_back(user, r, 'X')
            holds_save(user, list)
            return
        end
    end
end
local function sweep(most)
    if now < s.due then
        return
    end
    load('swept')
    for _, member in ipairs(call('ZRANGEBYSCORE', extended, '-inf', now,
            'LIMIT', 0, most)) do
        local order, user = member:match('^(%d+):(.*)$')
        expire(user, tonumber(order), 'P')
    end
    local first = tonumber(call('ZRANGE', extended, 0, 0, 'WITHSCORES')[2])
        or never
    local ms, seq = s.swept:match('^(%d+)-(%d+)$')
    local rows = call('XRANGE', events, ms .. '-' .. seq + 1, '+', 'COUNT',
        most)
    s.due = #rows == most and 0 or first
    for _, row in ipairs(rows) do
        local born = tonumber(row[1]:match('^%d+'))
        local kind, user, order = row[2][2]:match('^(%a) (%S+) (%d+)')
        if kind == 'R' then
            if born + s.hold > now then
                s.due = math.min(first, born + s.hold)
                break
            end
            expire(user, tonumber(order), 'H')
        end
        s.swept = row[1]
    end
    call('HSET', head, 'swept', s.swept)
    was.swept = s.swept
end
