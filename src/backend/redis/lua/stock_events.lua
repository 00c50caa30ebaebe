-- stock_events.lua: a page of a segment's events, and the removal of old ones.
-- KEYS[1] numbers  KEYS[2] users  KEYS[3] events  KEYS[4] extended reservations
-- ARGV segments, id of the first or "-", most events, id before which all may be
--      removed or ""
-- returns {0, 0, 0, now ms, id, event, id, event ...}
--@include stock_now
--@include stock_books
local function number_of(id)
    return tonumber(id:match('-(%d+)$'))
end
-- What was not yet looked at for its hold time stays.
local cut = ARGV[4]
if cut ~= '' and call('XRANGE', events, cut, cut)[1] then
    local swept = call('HGET', head, 'swept')
    if number_of(swept) < number_of(cut) then
        cut = swept
    end
    if number_of(cut) > 1 then
        call('XTRIM', events, 'MINID', cut)
    end
end
local list = {0, 0, 0, now}
for _, row in ipairs(call('XRANGE', events, ARGV[2], '+', 'COUNT', ARGV[3])) do
    list[#list + 1] = row[1]
    list[#list + 1] = row[2][2]
end
return list
