-- renew.lua: extend each of many locks that is still its holder's.
-- KEYS[i] lock
-- ARGV[5i-4..5i] owner, "v1 <owner> <attempt> ", lease ms, count, fence of the
--      grant that is renewed (0: not compared)
-- returns {now us, per lock: ttl ms before | -1 none | -2 absent
--      | -3 another owner's, or its record if it has one | -4 no lock}
local call, pcall = redis.call, redis.pcall
local time = call('TIME')
local out = {time[1] * 1000000 + time[2]}
for i = 1, #KEYS do
    local key, at = KEYS[i], 5 * i
    local mark, count, fence = ARGV[at - 3], ARGV[at - 1], ARGV[at]
    local has = pcall('HMGET', key, ARGV[at - 4], 'hf')
    local r
    if has.err then
        if not has.err:find('WRONGTYPE', 1, true) then
            return has
        end
        r = -4
    elseif has[1] and has[2] and has[2]:find(mark, 1, true) == 1
        and (fence == '0'
            or has[2]:match('^%d+ %+?(%d+) ', #mark + 1) == fence) then
        -- A full server refuses the count; the lease matters more.
        if has[1] ~= count then
            pcall('HSET', key, ARGV[at - 4], count)
        end
        r = call('PTTL', key)
        call('PEXPIRE', key, ARGV[at - 2])
    elseif has[1] or has[2] or call('EXISTS', key) == 1 then
        r = has[2] or -3
    else
        r = -2
    end
    out[i + 1] = r
end
return out
