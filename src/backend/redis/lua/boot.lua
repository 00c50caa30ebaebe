-- boot.lua: which server this is, and from when on it votes in a quorum.
-- KEYS[1] boot marker: "v1 <group> <identity> <settled us> <lease ms>" and
--      " durable" by the operator's word, " synced" if that life lost nothing
-- ARGV group, longest lease ms, quarantine us, its least us, what is asked for
--      (letters: n new, j join, s step, d durable, l look, f force, u unsure
--      of the lease), group to join from, "1" if every write is synced, "0" if
--      not, "-" if it may not be asked, "1" if locks are stored
-- returns {1 | 0 of another group | -1 a member already | -2 locks are stored
--      | -3 a replica | -4 of a cluster | -5 no marker of ours, now us,
--      left us, lease ms, identity or "", version, group or "", 1 if new,
--      1 if durable, 1 if it evicts keys}
local call, arg = redis.call, ARGV
local group, lease, most = arg[1], tonumber(arg[2]), tonumber(arg[3])
local from, locks = arg[6], arg[8] == '1'
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local function asked(letter)
    return arg[5]:find(letter, 1, true) ~= nil
end
local new, join, force, unsure = asked('n'), asked('j'), asked('f'), asked('u')
local function info(section)
    local text = redis.pcall('INFO', section)
    text = type(text) == 'string' and '\n' .. text or ''
    return function(name)
        return text:match('\n' .. name .. ':([^\r\n]*)') or ''
    end
end
local server, copies = info('server'), info('replication')
local id = server('run_id')
-- A promotion does not change run_id, only the replication id.
if id ~= '' and (tonumber(copies('connected_slaves')) or 0) > 0 then
    id = id .. '+' .. copies('master_replid')
end
local memory = info('memory')
local evicts = (tonumber(memory('maxmemory')) or 0) > 0
    and memory('maxmemory_policy') ~= 'noeviction'
local synced = arg[7] == '1' and info('persistence')('aof_enabled') == '1'
local function answer(code, left, its_lease, its_group, first, durable)
    return {code, now, left or 0, its_lease or lease, id,
        server('redis_version'), its_group or '', first and 1 or 0,
        durable and 1 or 0, evicts and 1 or 0}
end
if copies('role') == 'slave' then
    return answer(-3)
end
if server('redis_mode') == 'cluster' or server('server_mode') == 'cluster' then
    return answer(-4)
end
local old = redis.pcall('GET', KEYS[1])
if type(old) == 'table' then
    return old.err:find('WRONGTYPE', 1, true) and answer(-5) or old
end
local first = not old
local look = asked('l') or first and unsure
local has, life, settled, had, word
if old then
    has, life, settled, had, word =
        old:match('^v1 (%S+) (%S+) (%d+) (%d+)( ?%a*)$')
    if not has or word ~= '' and word ~= ' durable' and word ~= ' synced' then
        return answer(-5)
    end
    settled, had = tonumber(settled), tonumber(had)
end
local known = has == group or join and has == from
if not (look or force) then
    if new and has then
        return answer(-1, 0, had, has)
    elseif new and locks then
        return answer(-2)
    elseif has and not known then
        return answer(0, 0, had, has)
    end
elseif not (look or known) then
    -- With "force" a marker of another group is ignored.
    has, word = nil, nil
end
-- The quarantine, in proportion if the marker has another lease than asked for.
local quarantine = most
if has and had ~= lease then
    quarantine = math.max(math.floor(most * had / lease) + 10000,
        math.min(most, tonumber(arg[4])))
end
-- The client that wrote the marker did not know that leases may be longer.
local missing = 0
if has and lease > had and not (new or join or unsure) then
    missing = math.max(most - quarantine, 0)
end
local full = now + quarantine + missing
-- That writes are synced now does not say that they were before the restart.
local durable, was_synced = word == ' durable', word == ' synced'
if new then
    settled = now
elseif not has or asked('s')
    or life ~= id and not (durable or was_synced and synced or asked('d')) then
    settled = full
else
    -- A time beyond any quarantine: the clock was set back since.
    settled = math.min(settled + missing, full)
end
local left = math.max(settled - now, 0)
-- "synced" is only kept for the life in which a client has found it out.
local same = life == id
if look then
    return answer(1, left, had, has, first, durable or synced)
end
if not has or new then
    had, life = lease, id ~= '' and id or '-'
    durable = (new or join) and asked('d')
else
    had = unsure and had or math.max(had, lease)
    durable = durable or join and asked('d')
    -- Without a run_id (INFO is not allowed) a client cannot see a restart: it
    -- waits one quarantine by itself, and the marker keeps its time.
    if id ~= '' then
        life = id
    elseif not asked('s') then
        settled = tonumber(old:match('^v1 %S+ %S+ (%d+)')) + missing
    end
end
local keeps = synced or arg[7] == '-' and was_synced and same
local text = string.format('v1 %s %s %.0f %.0f%s',
    group, life, settled, had,
    durable and ' durable' or keeps and ' synced' or '')
if text ~= old then
    call('SET', KEYS[1], text)
end
return answer(1, left, had, group, first, durable or synced)
