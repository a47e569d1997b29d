-- Sends registrations: the lines of the file TOKENS in turn, to the sandboxes 0 … SANDBOXES - 1 in turn (0: the standard one).
-- Each of wrk's threads starts at another place.
local requests, position = {}, 0

local function lines(path)
    local found = {}
    for line in io.lines(path) do found[#found + 1] = line end
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
    local path = "/api/v1/authentication/register"
    for index = 1, math.max(#tokens, sandboxes) do
        local prefix = sandboxes > 0 and "/~s" .. (index - 1) % sandboxes or ""
        requests[index] = wrk.format("POST", prefix .. path, {
            ["content-type"] = "application/json",
            ["x-rezolve-partner-apikey"] = os.getenv("API_KEY"),
            ["authorization"] = "Bearer " .. tokens[(index - 1) % #tokens + 1],
        }, '{"email":"user@example.test"}')
    end
    position = math.floor(offset * #requests / 2)
end

function request()
    position = position % #requests + 1
    return requests[position]
end
