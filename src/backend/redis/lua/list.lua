-- list.lua: the locks on the next page of keys; changes nothing.
-- KEYS none: which keys there are is what is being asked
-- ARGV cursor, pattern, count
-- returns {next cursor, now us,
--      per lock: {name, ttl ms, counter, hf, mode, field, count}}
local call = redis.call
local time = call('TIME')
local scan = call('SCAN', ARGV[1], 'MATCH', ARGV[2],
    'COUNT', ARGV[3], 'TYPE', 'hash')
local out = {scan[1], time[1] * 1000000 + time[2]}
local function first_owner(key)
    local page, owner, count = redis.pcall('HSCAN', key, 0, 'COUNT', 16)
    if page.err then
        return
    end
    page = page[2]
    for i = 1, #page, 2 do
        local field = page[i]
        if field ~= 'hf' and field ~= 'mode' then
            if not field:find('^[%x-]+:.') or not tonumber(page[i + 1]) then
                return
            end
            owner, count = owner or field:sub(1, 127), count or page[i + 1]
        end
    end
    return owner, count
end
for _, key in ipairs(scan[2]) do
    local owner, count = first_owner(key)
    if owner then
        local fence = key:find('{', 1, true) and key or '{' .. key .. '}'
        fence = redis.pcall('GET', 'redisson_lock_token:' .. fence)
        local has = call('HMGET', key, 'hf', 'mode')
        out[#out + 1] = {key, call('PTTL', key),
            type(fence) == 'string' and tonumber(fence) or 0,
            has[1] and has[1]:sub(1, 512), has[2], owner, count}
    end
end
return out
