-- stock_settle.lua: confirm, cancel or extend a reservation.
-- KEYS[1] numbers  KEYS[2] users  KEYS[3] events  KEYS[4] extended reservations
-- ARGV segments, user, order, nonce, "confirm" | "cancel" | "extend", ms
-- returns {0, state, changed, now ms, late, order, units, left ms, nonce}; state 0:
--      there is no such reservation
--@include stock_now
--@include stock_books
--@include stock_holds
--@include stock_sweep
load('sold', 'max')
local user, order, nonce, what = ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local list, found = holds_of(call('HGET', users, user)), nil
for _, r in ipairs(list) do
    if r.order == order and r.nonce == nonce then
        found = r
    end
end
if not found then
    return {0, 0, 0, now, 0, 0, 0, 0, ''}
end
local r, changed, late = found, 0, 0
if what == 'confirm' and is_held(r) then
    if r.stage == 'P' then
        call('ZREM', extended, member_of(user, r))
    end
    s.held, s.sold = s.held - r.units, s.sold + r.units
    r.stage, r.till, changed = 'S', nil, 1
    event('S', user, r)
elseif what == 'confirm' and r.stage == 'X' then
    -- Paid after the hold time: take the units once more, or never again.
    changed = 1
    local has = units_of(list)
    if is_open() and s.avail >= r.units
        and (s.limit == 0 or has + r.units <= s.limit) then
        s.avail, s.sold = s.avail - r.units, s.sold + r.units
        r.stage, late = 'S', 1
        event('L', user, r)
    else
        r.stage = 'F'
        event('F', user, r)
    end
elseif what == 'cancel' and is_held(r) then
    changed = 1
    give_back(user, r, 'K')
elseif what == 'cancel' and r.stage == 'X' then
    r.stage, changed = 'K', 1
elseif what == 'extend' and is_held(r) then
    local till = math.min(now + tonumber(ARGV[6]), r.born + s.max)
    if till > (r.till or r.born + s.hold) then
        r.stage, r.till, changed = 'P', till, 1
        s.due = math.min(s.due, till)
        call('ZADD', extended, string.format('%.0f', till), member_of(user, r))
    end
end
if changed == 1 then
    holds_save(user, list)
    save()
end
return told(0, r, changed, late)
