-- stock_reserve.lua: take units of one segment of a sale for a user, once for
--      each request id.
-- KEYS[1] numbers  KEYS[2] users  KEYS[3] events  KEYS[4] extended reservations
-- ARGV segments, user, request id, nonce, units, 1 the caller fetches units
-- returns {says, state, changed, now ms, late, order, units, left ms, nonce};
--      says as enum stock_says; zeros where there is no reservation
-- Numbers stay the texts that they are stored as, where nothing is computed:
-- a sale's time is mostly spent here, and reading and printing them is slow.
--@include stock_now
local user, id, nonce, units = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local function numbers()
    return call('HMGET', head, 'segments', 'due', 'avail', 'held', 'events',
        'last', 'limit', 'hold', 'opens', 'closes', 'ended')
end
local function give_back_due(most)
--@include stock_books
--@include stock_holds
--@include stock_sweep
    sweep(most)
    save()
end
local n = numbers()
if not n[1] then
    return {9, 0, 0, now}
end
if ARGV[1] ~= n[1] and ARGV[1] ~= '0' then
    return {10, 0, 0, now}
end
if tonumber(n[2]) <= now then
    give_back_due(6)
    n = numbers()
    if tonumber(n[3]) < units and tonumber(n[2]) <= now then
        give_back_due(100)
        n = numbers()
    end
end
local due, avail, hold = tonumber(n[2]), tonumber(n[3]), tonumber(n[8])
local limit, opens, closes, is_ended = n[7], n[9], n[10], n[11] ~= '0'
local text, has, records = call('HGET', users, user), 0, 0
if text then
    local s = {hold = hold}
--@include stock_holds
    local list = holds_of(text)
    for _, r in ipairs(list) do
        if r.id == id and r.units ~= units then
            return {3, 0, 0, now, 0, 0, 0, 0, ''}
        elseif r.id == id then
            local is_own = is_held(r) and r.nonce == nonce
            return told(is_own and 1 or 2, r, 0, 0)
        end
    end
    has, records = units_of(list)
end
local is_early = opens ~= '0' and now < tonumber(opens)
local says, left = 1, 0
if is_ended or is_early or closes ~= '0' and now >= tonumber(closes) then
    says, left = 6, not is_ended and is_early and tonumber(opens) - now or -1
elseif limit ~= '0' and has + units > tonumber(limit) or records >= 256 then
    says = 4
elseif avail < units and due <= now then
    says = 7
elseif avail < units and n[1] == '1' then
    says = 5
elseif avail < units then
    -- A time further away than it can be was set before the clock was set back.
    local soon = call('HMGET', head, 'dry', 'gone')
    local dry, gone = tonumber(soon[1]), tonumber(soon[2])
    if gone > now and gone <= now + 250 then
        says = 5
    elseif dry > now and dry <= now + 50 and ARGV[6] ~= '1' then
        says, left = 7, dry - now
    else
        says = 8
        call('HSET', head, 'dry', whole(now + 50))
    end
end
if says ~= 1 then
    return {says, 0, 0, now, 0, 0, 0, left, ''}
end
local order, last = tonumber(n[5]) + 1, n[6]
if now > tonumber(last) then
    last = whole(now)
end
local number, till = whole(order), last + hold
call('XADD', events, last .. '-' .. number, 'e',
    'R ' .. user .. ' ' .. number .. ' ' .. id .. ' ' .. ARGV[5])
call('HSET', users, user, (text and text .. ';' or '') .. id .. ',' .. ARGV[5]
    .. ',' .. number .. ',H' .. last .. ',' .. nonce)
call('HSET', head, 'avail', whole(avail - units), 'held',
    whole(n[4] + units), 'events', number, 'last', last)
if till < due then
    call('HSET', head, 'due', whole(till))
end
return {1, 1, 1, now, 0, order, units, till - now, nonce}
