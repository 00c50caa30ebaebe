-- stock_make.lua: make one segment of a sale.
-- KEYS[1] numbers  KEYS[2] users  KEYS[3] events  KEYS[4] extended reservations
-- ARGV segments, units, limit, hold ms, longest hold ms, opens ms, closes ms
-- returns {0 it has these terms | 10 it has others, 0, 1 made | 0 was there, now ms}
local call, head = redis.call, KEYS[1]
local names = {'segments', 'first', 'limit', 'hold', 'max', 'opens', 'closes'}
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local has = call('HMGET', head, unpack(names))
if has[1] then
    for i = 1, #names do
        if has[i] ~= ARGV[i] then
            return {10, 0, 0, now}
        end
    end
    return {0, 0, 0, now}
end
local list = {}
for i, name in ipairs(names) do
    list[2 * i - 1], list[2 * i] = name, ARGV[i]
end
for _, name in ipairs({'in', 'out', 'held', 'sold', 'events', 'last', 'dry',
        'gone', 'ended'}) do
    list[#list + 1], list[#list + 2] = name, '0'
end
call('HSET', head, 'init', ARGV[2], 'avail', ARGV[2], 'swept', '0-0', 'due',
    '90000000000000', unpack(list))
return {0, 0, 1, now}
