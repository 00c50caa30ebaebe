-- break.lua: take the lock away from whoever has it, and raise the fence.
-- KEYS[1] lock  KEYS[2] fence counter; absent: the lock has none
-- ARGV channel, channel of a read/write lock; 3rd, letters: s other libraries'
--      strings are locks, too; c the messages are sharded
-- returns {1 there was one | 0 there was none | -1 what is there is no lock
--      | -2 the counter is no number, counter, now us}
local how = ARGV[3] or ''
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local kind = redis.call('TYPE', KEYS[1]).ok
local counter = KEYS[2]
local fence = tonumber(counter and redis.call('GET', counter) or 0)
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
elseif kind == 'string' then
    if redis.call('GETRANGE', KEYS[1], 0, 3) ~= 'hf1:'
        and not (how:find('s', 1, true)
            and redis.call('PTTL', KEYS[1]) >= 0) then
        return {-1, fence, now}
    end
elseif kind ~= 'none' then
    return {-1, fence, now}
end
local was = redis.call('DEL', KEYS[1])
fence = math.max(fence + 1, now)
local set = counter
    and redis.pcall('SET', counter, string.format('%.0f', fence))
if not counter then
    fence = 0
elseif set.err then
    if was == 0 then
        return set
    end
    fence = 0
end
if was == 1 then
    local publish = how:find('c', 1, true) and 'SPUBLISH' or 'PUBLISH'
    redis.pcall(publish, ARGV[1], '0')
    if rw then
        redis.pcall(publish, ARGV[2], '1')
    end
end
return {was, fence, now}
