-- list.lua: the locks on the next page of keys; changes nothing.
-- KEYS none: which keys there are is what is being asked
-- ARGV cursor, pattern, count; 4th, letters: s other libraries' strings are
--      locks, too; c the channels are sharded
-- returns {next cursor, now us, per lock: {name, ttl ms, counter, hf or the
--      string, mode or "string", field, count, subscribers or -1}}
local call, pcall = redis.call, redis.pcall
local how = ARGV[4] or ''
local time = call('TIME')
local scan = call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local out = {scan[1], time[1] * 1000000 + time[2]}
-- Any hash may be met here: a bounded look tells whether it is a lock.
local function first_owner(key)
    local page, owner, count = pcall('HSCAN', key, 0, 'COUNT', 16)
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
-- Ours by its first word; a foreign one by its shape and a life of a day.
local function lock_text(key)
    local text = pcall('GETRANGE', key, 0, 511)
    if type(text) ~= 'string' or text:find('hf1:', 1, true) == 1 then
        return type(text) == 'string' and text
    end
    local left = how:find('s', 1, true) and call('PTTL', key) or -1
    return left >= 0 and left <= 86400000 and #text >= 16 and #text <= 128
        and not text:find('[^%w%p]') and text
end
local function row_of(key)
    local kind = pcall('TYPE', key).ok
    if kind == 'string' then
        local text = lock_text(key)
        return text and {text, 'string', false, false}
    end
    local owner, count = nil, nil
    if kind == 'hash' then
        owner, count = first_owner(key)
    end
    if owner then
        local has = call('HMGET', key, 'hf', 'mode')
        local text = has[1]
        if has[2] then
            -- The record of a holder is in the string that expires with it.
            text = pcall('GET', (key:find('{', 1, true) and key
                or '{' .. key .. '}') .. ':' .. owner .. ':rwlock_timeout:1')
            text = type(text) == 'string' and text:find('^v1 ') and text
        end
        return {text and text:sub(1, 512):gsub(' $', '') or false, has[2], owner,
            count}
    end
end
local channels = {}
for _, key in ipairs(scan[2]) do
    local row = row_of(key)
    if row then
        local tag = key:find('{', 1, true) and key or '{' .. key .. '}'
        local fence = pcall('GET', 'redisson_lock_token:' .. tag)
        -- The counter may not be read, or has another name in a cluster: take
        -- the fence of the grant.
        if type(fence) ~= 'string' and row[1] then
            fence = row[1]:match('^v1 %S+ %d+ %d+ %+?(%d+)')
        end
        out[#out + 1] = {key, call('PTTL', key),
            type(fence) == 'string' and tonumber(fence) or 0,
            row[1], row[2], row[3], row[4], -1}
        channels[#channels + 1] = 'redisson_lock__channel:' .. tag
        channels[#channels + 1] = 'redisson_rwlock:' .. tag
    end
end
if #channels > 0 and #channels < 7000 then
    local ways = {'NUMSUB', how:find('c', 1, true) and 'SHARDNUMSUB' or nil}
    for _, way in ipairs(ways) do
        local subs = pcall('PUBSUB', way, unpack(channels))
        for i = 3, subs.err and 0 or #out do
            out[i][8] = math.max(out[i][8],
                subs[4 * i - 10] + subs[4 * i - 8])
        end
    end
end
return out
