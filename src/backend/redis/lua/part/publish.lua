-- publish.lua: a part of the scripts that wake waiters.
-- KEYS none
-- ARGV by argument: sharded: nil or false, or letters; with "b" among them the
--      messages always go out both ways
-- returns publish(sharded, channel, text): processes told, or an error; and
--      listeners(sharded, channel): how many there are, or -1
-- Redisson before 3.28 often subscribes in the classic way although the servers
-- have sharded channels, and hears nothing of a sharded message.
local function listeners(sharded, channel)
    local most = -1
    for _, way in ipairs({'NUMSUB', sharded and 'SHARDNUMSUB' or nil}) do
        local subs = redis.pcall('PUBSUB', way, channel)
        most = math.max(most, subs.err and -1 or subs[2])
    end
    return most
end
local function publish(sharded, channel, text)
    if not sharded then
        return redis.pcall('PUBLISH', channel, text)
    end
    local told = redis.pcall('SPUBLISH', channel, text)
    local subs = not sharded:find('b', 1, true)
        and redis.pcall('PUBSUB', 'NUMSUB', channel)
    if not subs or subs.err or subs[2] > 0 then
        local more = redis.pcall('PUBLISH', channel, text)
        if type(told) ~= 'number'
            or type(more) == 'number' and more > told then
            told = more
        end
    end
    return told
end
