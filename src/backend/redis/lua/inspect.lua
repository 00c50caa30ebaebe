-- inspect.lua: tell about one lock; changes nothing.
-- KEYS[1] lock  KEYS[2] fence counter; absent: the lock has none
-- ARGV owner, channel, channel of a read/write lock; 4th: they are sharded
-- returns {"hash" | "string" | "none" | what else is there, ttl ms, now us,
--      counter, subscribers or -1, owner's count, hf, mode,
--      fields and counts... | the string}
local call = redis.call
local time = call('TIME')
local kind = call('TYPE', KEYS[1]).ok
local subs = redis.pcall('PUBSUB', ARGV[4] and 'SHARDNUMSUB' or 'NUMSUB',
    ARGV[2], ARGV[3])
local fence = KEYS[2] and redis.pcall('GET', KEYS[2])
local out = {kind, call('PTTL', KEYS[1]), time[1] * 1000000 + time[2],
    type(fence) == 'string' and tonumber(fence) or 0,
    subs.err and -1 or subs[2] + subs[4], false, false, false}
if kind == 'hash' then
    local has = call('HMGET', KEYS[1], ARGV[1], 'hf', 'mode')
    out[6], out[7], out[8] = has[1], has[2] and has[2]:sub(1, 512), has[3]
    local page = call('HSCAN', KEYS[1], 0, 'COUNT', 16)[2]
    for i = 1, #page, 2 do
        local field, count = page[i], page[i + 1]
        if field ~= 'hf' and field ~= 'mode' then
            if not field:find('^[%x-]+:.') or not tonumber(count) then
                out[1] = 'hash that is no lock'
                break
            end
            out[#out + 1], out[#out + 2] = field:sub(1, 127), count
        end
    end
elseif kind == 'string' then
    out[9] = call('GETRANGE', KEYS[1], 0, 511)
end
return out
