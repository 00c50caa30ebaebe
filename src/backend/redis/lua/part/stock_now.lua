-- stock_now.lua: a part of the stock scripts: the keys, and the server's clock.
-- KEYS as of those scripts: numbers, users, events, extended reservations
-- ARGV none
-- returns call, head, users, events; now, in ms; whole(number), its digits, of
--      which Lua itself prints 14
local call = redis.call
local head, users, events = KEYS[1], KEYS[2], KEYS[3]
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function whole(number)
    return number < 1e14 and number .. '' or string.format('%.0f', number)
end
