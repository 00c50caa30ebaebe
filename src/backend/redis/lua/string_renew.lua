-- string_renew.lua: extend each of many strings that is still its holder's.
-- KEYS[i] lock
-- ARGV[4i-3..4i] "hf1:<owner>:<attempt>:", lease ms, count, fence of the grant
--      that is renewed (0: not compared)
-- returns {now us, per lock: ttl ms before | -1 none | -2 absent
--      | -3 another owner's, or its value if it is ours | -4 no lock}
local call, pcall = redis.call, redis.pcall
local time = call('TIME')
local out = {time[1] * 1000000 + time[2]}
for i = 1, #KEYS do
    local key, at = KEYS[i], 4 * i
    local mark, lease, count, fence =
        ARGV[at - 3], ARGV[at - 2], ARGV[at - 1], ARGV[at]
    local has = pcall('GET', key)
    local r
    if type(has) == 'table' then
        if not has.err:find('WRONGTYPE', 1, true) then
            return has
        end
        r = -4
    elseif not has then
        r = -2
    elseif has:find(mark, 1, true) ~= 1 or fence ~= '0'
        and has:match('^%d+:(%d+):', #mark + 1) ~= fence then
        r = has:find('hf1:', 1, true) == 1 and has or -3
    else
        r = call('PTTL', key)
        local head, old, tail =
            has:match('^(%d+:%d+:%d+:)(%d+)(:.*)$', #mark + 1)
        -- A full server refuses the count; the lease matters more.
        if not head or old == count or not pcall('SET', key,
            mark .. head .. count .. tail, 'PX', lease).ok then
            call('PEXPIRE', key, lease)
        end
    end
    out[i + 1] = r
end
return out
