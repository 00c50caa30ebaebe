-- stock_holds.lua: a part of the stock scripts: a user's reservations, which are
--      "id,units,order,stage born ms[:until ms],nonce" each (no blank), and ";"
--      between them.
-- KEYS none
-- ARGV none
-- returns holds_of(text), text_of(hold), is_held(hold); units_of(holds): units
--      held and sold, in how many reservations; told(...): the answer about one.
--      Needs now, and the hold time in s.hold
local function holds_of(text)
    local list = {}
    for id, units, order, stage, born, till, nonce in (text or ''):gmatch(
            '([^,;]*),(%d+),(%d+),(%a)(%d+):?(%d*),([^,;]*)') do
        list[#list + 1] = {id = id, units = tonumber(units),
            order = tonumber(order), born = tonumber(born), stage = stage,
            till = tonumber(till), nonce = nonce}
    end
    return list
end
local function text_of(r)
    return r.id .. ',' .. r.units .. ',' .. r.order .. ',' .. r.stage
        .. r.born .. (r.till and ':' .. r.till or '') .. ',' .. r.nonce
end
local function is_held(r)
    return r.stage == 'H' or r.stage == 'P'
end
local function units_of(list)
    local units, records = 0, 0
    for _, r in ipairs(list) do
        if is_held(r) or r.stage == 'S' then
            units, records = units + r.units, records + 1
        end
    end
    return units, records
end
local function told(says, r, changed, late)
    local states = {H = 1, P = 1, S = 2, K = 3, X = 4, F = 4}
    local left = is_held(r)
        and math.max((r.till or r.born + s.hold) - now, 0) or 0
    return {says, states[r.stage], changed, now, late, r.order, r.units, left,
        r.nonce}
end
