-- permit_release.lua: give permits back, and let no late proposal in.
-- KEYS[1] available  KEYS[2] permits that are out  KEYS[3] facts
--      KEYS[4] mark: this attempt was given up  KEYS[5] queue  KEYS[6] leases
--      of those in it
-- ARGV id, permits, channel, T, window us, owner; 7th, letters: s the messages
--      are sharded, b and always go out both ways; q leave the queue; h count
--      the listeners, wake none, unless there is a queue; u a proposal may
--      come behind this; 8th, of a ticket: "v1 <owner> <attempt> ", with which
--      its record begins, for an id has only a part of its attempt
-- returns released: processes told, or -1 | -2 absent, or their time was over
local call, pcall, arg = redis.call, redis.pcall, ARGV
local name, out, queue = KEYS[1], KEYS[2], KEYS[5]
local n, letters = tonumber(arg[2]), arg[7]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local left = letters and letters:find('q', 1, true)
    and pcall('ZREM', queue, arg[6]) == 1
if left then
    pcall('ZREM', KEYS[6], arg[6])
end
--@include publish
local function tell(number)
    if number <= 0 then
        return -1
    end
    local sharded = letters and letters:find('s', 1, true) and letters
    if letters and letters:find('h', 1, true)
        and call('EXISTS', queue) == 0 then
        return listeners(sharded, arg[3])
    end
    local told = publish(sharded, arg[3], number)
    return type(told) == 'number' and told or -1
end
-- Whatever of it is still on its way is older than this.
local function bury()
    local life = math.ceil((math.max(arg[4] - now, 0) + arg[5]) / 1000) + 1000
    pcall('SET', KEYS[4], 'gone', 'PX', string.format('%.0f', life))
end
local record = arg[8] and pcall('HGET', KEYS[3], arg[1])
if type(record) == 'string' and record:find(arg[8], 1, true) ~= 1 then
    return -2
end
-- Delete before any other write: a full server only accepts that.
local had, ends, ids = 0, nil, {}
for i = 0, n - 1 do
    local id = arg[1]
        .. (i == 0 and '\0\0' or string.char(math.floor(i / 256), i % 256))
    local score = call('ZSCORE', out, id)
    if score then
        ends = math.min(ends or tonumber(score), tonumber(score))
        had = had + call('ZREM', out, id)
        ids[2 * had - 1], ids[2 * had] = 0, id
    end
end
if had > 0 then
    local free = pcall('INCRBY', name, had)
    if type(free) == 'table' then
        -- Keep them as if their lease had ended: the next acquire returns them.
        call('ZADD', out, unpack(ids))
        return free
    end
    pcall('HDEL', KEYS[3], arg[1])
    if letters and letters:find('u', 1, true) then
        bury()
    end
    local told = tell(free)
    return (had < n or ends * 1000 <= now) and -2 or told
end
bury()
if left and call('ZCARD', queue) > 0 then
    local free = pcall('GET', name)
    tell(type(free) == 'string' and tonumber(free) or 0)
end
return -2
