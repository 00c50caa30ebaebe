-- guard.lua: remember the highest token of a resource, refuse lower ones, and
--      do the write in the same step.
-- KEYS[1] guard, or claim  KEYS[2] resource
-- ARGV what to do, see below; token; when it was sent in us, how old it may be
--      in us, ttl ms (0 no end), value
-- returns {1 done | 0 refused | -1 the guard is none | -2 the resource is no
--      string | -3 it came too late, token seen, now us, ttl ms, value or nil}
local call, guard, key = redis.call, KEYS[1], KEYS[2]
local what, token = ARGV[1], ARGV[2]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
-- A copy that was delayed for long must not undo what came after it.
if ARGV[4] and now > tonumber(ARGV[3]) + tonumber(ARGV[4]) then
    return {-3, '0', now}
end
-- Tokens are beyond what a Lua number can hold: they are compared as text.
local function above(a, b)
    if #a ~= #b then
        return #a > #b
    end
    return a > b
end
local seen = redis.pcall('GET', guard) or '0'
if type(seen) == 'table' then
    if not seen.err:find('WRONGTYPE', 1, true) then
        return seen
    end
    return {-1, '0', now}
end
if seen ~= '0' and (not seen:find('^[1-9]%d*$')
        or above(seen, '9223372036854775807')) then
    return {-1, '0', now}
end
-- touch, set, delete: not below the token seen.  claim: whatever was seen.
-- still: a set by the claim that was seen, and no other.
if what == 'still' and seen ~= token then
    return {0, seen, now}
end
if (what == 'touch' or what == 'set' or what == 'delete')
        and above(seen, token) then
    return {0, seen, now}
end
if what ~= 'touch' and what ~= 'look' and what ~= 'claim' then
    local kind = call('TYPE', key)
    kind = kind.ok or kind
    if kind ~= 'string' and kind ~= 'none' then
        return {-2, seen, now}
    end
end
if what == 'look' then
    return {1, seen, now}
end
if what == 'read' then
    return {1, seen, now, call('PTTL', key), call('GET', key)}
end
if seen ~= token then
    call('SET', guard, token)
end
if what == 'delete' then
    call('DEL', key)
elseif what == 'set' or what == 'still' then
    if ARGV[5] == '0' then
        call('SET', key, ARGV[6])
    else
        call('SET', key, ARGV[6], 'PX', ARGV[5])
    end
end
return {1, token, now}
