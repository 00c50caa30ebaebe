-- break.lua: take the lock away from whoever has it, and raise the fence.
-- KEYS[1] lock  KEYS[2] fence counter
-- ARGV channel, channel of a read/write lock
-- returns {1 there was one | 0 there was none | -1 what is there is no lock
--      | -2 the counter is no number, counter, now us}
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local kind = redis.call('TYPE', KEYS[1]).ok
local fence = tonumber(redis.call('GET', KEYS[2]) or 0)
if not fence or not (fence < 9007199254740991) then
    return {-2, 0, now}
end
local rw = false
if kind == 'hash' then
    local page = redis.call('HSCAN', KEYS[1], 0, 'COUNT', 64)[2]
    for i = 1, #page, 2 do
        local field = page[i]
        rw = rw or field == 'mode'
        if field ~= 'hf' and field ~= 'mode'
            and not (field:find('^[%x-]+:.') and tonumber(page[i + 1])) then
            return {-1, fence, now}
        end
    end
elseif kind ~= 'none' then
    return {-1, fence, now}
end
local was = redis.call('DEL', KEYS[1])
fence = math.max(fence + 1, now)
local set = redis.pcall('SET', KEYS[2], string.format('%.0f', fence))
if set.err then
    if was == 0 then
        return set
    end
    fence = 0
end
if was == 1 then
    redis.pcall('PUBLISH', ARGV[1], '0')
    if rw then
        redis.pcall('PUBLISH', ARGV[2], '1')
    end
end
return {was, fence, now}
