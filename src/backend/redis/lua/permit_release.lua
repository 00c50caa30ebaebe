-- permit_release.lua: give permits back, and let no late proposal in.
-- KEYS[1] available  KEYS[2] permits that are out  KEYS[3] facts
--      KEYS[4] mark: this attempt was given up  KEYS[5] queue  KEYS[6] leases
--      of those in it
-- ARGV id, permits, channel, T, window us, owner; 7th, letters: s the messages
--      are sharded; q leave the queue
-- returns released: processes told, or -1 | -2 absent, or their time was over
local call, pcall, arg = redis.call, redis.pcall, ARGV
local name, out, queue = KEYS[1], KEYS[2], KEYS[5]
local letters = arg[7] or ''
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local function tell(number)
    if number <= 0 then
        return -1
    end
    local told = pcall(letters:find('s', 1, true) and 'SPUBLISH' or 'PUBLISH',
        arg[3], string.format('%.0f', number))
    return type(told) == 'number' and told or -1
end
local left = letters:find('q', 1, true) and pcall('ZREM', queue, arg[6]) == 1
if left then
    pcall('ZREM', KEYS[6], arg[6])
end
-- Before any other write: a full server only takes what frees memory.
local had, late = {}, false
for i = 0, arg[2] - 1 do
    local id = arg[1] .. string.char(math.floor(i / 256), i % 256)
    local ends = call('ZSCORE', out, id)
    if ends then
        had[#had + 1], had[#had + 2] = ends, id
        late = late or tonumber(ends) * 1000 <= now
        call('ZREM', out, id)
    end
end
if #had > 0 then
    local free = pcall('INCRBY', name, #had / 2)
    if type(free) == 'table' then
        call('ZADD', out, unpack(had))
        return free
    end
    pcall('HDEL', KEYS[3], arg[1])
    local told = tell(free)
    if late or #had < 2 * arg[2] then
        return -2
    end
    return told
end
-- Whatever of it is still on its way is older than this.
local life = math.ceil((math.max(arg[4] - now, 0) + arg[5]) / 1000) + 1000
pcall('SET', KEYS[4], 'gone', 'PX', string.format('%.0f', life))
if left and call('ZCARD', queue) > 0 then
    local free = pcall('GET', name)
    tell(type(free) == 'string' and tonumber(free) or 0)
end
return -2
