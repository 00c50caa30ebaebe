-- rw_renew.lua: extend each of many holds of read/write locks that is still
--      its holder's.
-- KEYS[2i-1] lock  KEYS[2i] the holder's record
-- ARGV[5i-4..5i] owner or "<owner>:write", "v1 <owner> <attempt> ", lease ms,
--      count, fence of the grant that is renewed (0: not compared)
-- returns {now us, per lock: ttl ms before | -1 none | -2 absent
--      | -3 another owner's | -4 no lock}
local call, pcall = redis.call, redis.pcall
local time = call('TIME')
local out = {time[1] * 1000000 + time[2]}
for i = 1, #KEYS / 2 do
    local key, record, at = KEYS[2 * i - 1], KEYS[2 * i], 5 * i
    local field, mark, lease = ARGV[at - 4], ARGV[at - 3], ARGV[at - 2]
    local count, fence = ARGV[at - 1], ARGV[at]
    local had = pcall('HGET', key, field)
    local facts, r = nil, -2
    if type(had) == 'table' then
        if not had.err:find('WRONGTYPE', 1, true) then
            return had
        end
        r = -4
    else
        facts = had and call('GET', record)
        r = call('EXISTS', key) == 1 and -3 or -2
    end
    if facts and facts:find(mark, 1, true) == 1
        and (fence == '0'
            or facts:match('^%d+ (%d+) ', #mark + 1) == fence) then
        -- A full server refuses the count; the lease matters more.
        if had ~= count then
            pcall('HSET', key, field, count)
        end
        local all = call('PTTL', key)
        r = math.min(call('PTTL', record), all)
        call('PEXPIRE', record, lease)
        -- Other holders may have asked for more.
        if all < tonumber(lease) or call('HLEN', key) == 2 then
            call('PEXPIRE', key, lease)
            if facts:sub(-1) ~= ' ' then
                pcall('APPEND', record, ' ')
            end
        end
    end
    out[i + 1] = r
end
return out
