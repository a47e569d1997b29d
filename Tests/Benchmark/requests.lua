-- Cycles through the tokens in the file TOKENS (which may have none) and the sandboxes 0 … SANDBOXES - 1 (SANDBOXES=0: the default sandbox).
-- Prepares at least TEXTS requests, so that loads that differ only in sandboxes read the same amount of memory. METHOD,
-- TARGET, FIELDS (a line each) and BODY are the same for all. Each of wrk's threads starts at a different request.
local requests, position = {}, 0

local function lines(path)
    local found = {}
    for line in io.lines(path) do found[#found + 1] = line end
    return found
end

local function fields(text)
    local found = {}
    for name, value in text:gmatch("([^\n:]+): ([^\n]*)") do found[name] = value end
    return found
end

local started = 0
function setup(thread)
    thread:set("offset", started)
    started = started + 1
end

function init()
    local tokens = lines(os.getenv("TOKENS"))
    local sandboxes = tonumber(os.getenv("SANDBOXES"))
    local method, target, body = os.getenv("METHOD"), os.getenv("TARGET"), os.getenv("BODY")
    for index = 1, math.max(#tokens, sandboxes, tonumber(os.getenv("TEXTS"))) do
        local prefix = sandboxes > 0 and "/~s" .. (index - 1) % sandboxes or ""
        local head = fields(os.getenv("FIELDS"))
        if #tokens > 0 then head["authorization"] = "Bearer " .. tokens[(index - 1) % #tokens + 1] end
        requests[index] = wrk.format(method, prefix .. target, head, body ~= "" and body or nil)
    end
    position = math.floor(offset * #requests / 2)
end

function request()
    position = position % #requests + 1
    return requests[position]
end
