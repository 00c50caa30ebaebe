-- stock_reserve.lua: take units of one segment of a sale for a user, once for
--      each request id.
-- KEYS[1] numbers  KEYS[2] users  KEYS[3] events  KEYS[4] extended reservations
-- ARGV segments, user, request id, nonce, units, 1 the caller fetches units
-- returns {says, state, changed, now ms, late, order, units, left ms, nonce};
--      says as enum stock_says; zeros where there is no reservation
--@include stock_books
local user, id, nonce, units = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local function give_back_due(most)
--@include stock_sweep
    sweep(most)
end
if s.due <= now then
    give_back_due(6)
    if s.avail < units and s.due <= now then
        give_back_due(100)
    end
end
local text = call('HGET', users, user)
local list = holds_of(text)
for _, r in ipairs(list) do
    if r.id == id then
        save()
        if r.units ~= units then
            return {3, 0, 0, now, 0, 0, 0, 0, ''}
        end
        local own = is_held(r) and r.nonce == nonce
        return told(own and 1 or 2, r, 0, 0)
    end
end
local has, records = units_of(list)
local says, left = 1, 0
if not is_open() then
    says = 6
    left = s.ended == 0 and now < s.opens and s.opens - now or -1
elseif s.limit > 0 and has + units > s.limit or records >= 256 then
    says = 4
elseif s.avail < units then
    if not s.dry then
        load('dry', 'gone')
    end
    -- A time further away than it can be was set before the clock was set back.
    if s.due <= now then
        says = 7
    elseif s.segments == 1 or s.gone > now and s.gone <= now + 250 then
        says = 5
    elseif s.dry > now and s.dry <= now + 50 and ARGV[6] ~= '1' then
        says, left = 7, s.dry - now
    else
        says, s.dry = 8, now + 50
    end
end
if says ~= 1 then
    save()
    return {says, 0, 0, now, 0, 0, 0, left, ''}
end
local r = {id = id, units = units, stage = 'H', nonce = nonce}
s.avail, s.held = s.avail - units, s.held + units
event('R', user, r)
s.due = math.min(s.due, r.born + s.hold)
call('HSET', users, user, (text or '') .. text_of(r))
save()
return told(1, r, 1, 0)
