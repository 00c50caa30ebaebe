-- break.lua: take the lock away from its holder, and raise the fence.
-- KEYS[1] lock  KEYS[2] fence counter; absent: the lock has none
-- ARGV channel, channel of a read/write lock, letters: s other libraries'
--      strings are locks, too; c the messages are sharded, b and always go
--      out both ways; KEYS[5] of queue_release.lua, KEYS[3] of
--      rw_acquire.lua: what a proposal from before this finds
-- returns {1 there was one | 0 there was none | -1 what is there is no lock
--      | -2 the counter is no number, counter, now us}
local how = ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local kind = redis.call('TYPE', KEYS[1]).ok
local counter = KEYS[2]
local fence = tonumber(counter and redis.call('GET', counter) or 0)
if not fence or not (fence < 9007199254740991) then
    return {-2, 0, now}
end
local rw, ours = false, false
if kind == 'hash' then
    local page = redis.call('HSCAN', KEYS[1], 0, 'COUNT', 64)[2]
    for i = 1, #page, 2 do
        local field = page[i]
        rw = rw or field == 'mode'
        ours = ours or field == 'hf'
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
-- What the holder proposed may arrive yet, and must not be granted again.  No
-- number up to the counter is taken for as long as it would be young enough.
local function life_of(number)
    return string.format('%.0f',
        math.max(math.ceil((number - now) / 1000), 0) + 10000)
end
if ours and fence > 0 then
    redis.pcall('HSET', ARGV[4], 'b', string.format('%.0f', fence))
    local left, life = redis.pcall('PTTL', ARGV[4]), life_of(fence)
    if type(left) == 'number' and left < tonumber(life) then
        redis.pcall('PEXPIRE', ARGV[4], life)
    end
elseif rw and fence > 0 then
    local old = redis.pcall('GET', ARGV[5])
    local q, last = (type(old) == 'string' and old or ''):match('^(q?)(%d+) $')
    -- The floor of an earlier release may be higher.
    local floor = math.max(tonumber(last or 0), fence)
    redis.pcall('SET', ARGV[5], string.format('%s%.0f ', q or '', floor), 'PX',
        life_of(floor))
end
if was == 1 then
--@include publish
    local sharded = how:find('c', 1, true) and how
    publish(sharded, ARGV[1], '0')
    if rw then
        publish(sharded, ARGV[2], '1')
    end
    -- Redisson's fair lock tells its first waiter alone, on its own channel.
    local tail = ARGV[1]:gsub('^redisson_lock__channel', '')
    local queue = redis.pcall('LRANGE', 'redisson_lock_queue' .. tail, 0, 99)
    for i = 1, queue.err and 0 or #queue do
        local ends = redis.pcall('ZSCORE', 'redisson_lock_timeout' .. tail,
            queue[i])
        if type(ends) ~= 'string' or tonumber(ends) * 1000 > now then
            publish(sharded, ARGV[1] .. ':' .. queue[i], '0')
            break
        end
    end
end
return {was, fence, now}
