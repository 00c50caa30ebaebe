-- count_release.lua: put back what an attempt took, if it did.
-- KEYS[1] counter  KEYS[2] mark: this attempt was given up
--      KEYS[3] recent attempts that took some
-- ARGV id, how many, channel, T, window us; 6th: "s" the messages are sharded,
--      "sb" and always go out both ways
-- returns put back: processes told, or -1 | -2 it took none, and will not
local call, pcall, arg = redis.call, redis.pcall, ARGV
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local took = call('ZSCORE', KEYS[3], arg[1])
if took and tonumber(took) * 1000 > now then
    call('ZREM', KEYS[3], arg[1])
    -- The counter was deleted meanwhile: nothing is put back.
    if call('EXISTS', KEYS[1]) == 0 then
        return -1
    end
    local value = call('INCRBY', KEYS[1], arg[2])
--@include publish
    local told = value > 0
        and publish(arg[6], arg[3], string.format('%.0f', value))
    return type(told) == 'number' and told or -1
end
local life = math.ceil((math.max(arg[4] - now, 0) + arg[5]) / 1000) + 1000
pcall('SET', KEYS[2], 'gone', 'PX', string.format('%.0f', life))
return -2
