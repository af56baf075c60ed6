-- What Argo CD shows as the health of a Pipeline, a LibraryStep or an Agent, from the conditions that the controller writes.
-- PromotionReady and RegressionFree are advice and change no health; a golden set that regressed is named in the message.
local WAITING = { OutOfDate = true, Starting = true, Unreachable = true, NoRunnerKey = true }

local function health(status, message)
  return { status = status, message = message }
end

local conditions = {}
for _, condition in ipairs((obj.status or {}).conditions or {}) do
  conditions[condition.type] = condition
end

local accepted = conditions.Accepted
local ready = conditions.Ready
if accepted == nil or ready == nil or (obj.status.observedGeneration or 0) < (obj.metadata.generation or 0) then
  return health("Progressing", "waiting for the controller to look at it")
end
if accepted.status == "False" then
  return health("Degraded", accepted.reason .. ": " .. accepted.message)
end
local regression = conditions.RegressionFree
local advice = regression and regression.status == "False" and "; " .. regression.message or ""
if ready.status == "True" then
  if obj.spec.suspend == true then
    return health("Suspended", "suspended: no alert and no schedule starts it")
  end
  return health("Healthy", ready.message .. advice)
end
-- A controller that was given no address of the services cannot say more than that.
if ready.reason == "NotObserved" then
  return health("Healthy", "accepted; " .. ready.message)
end
if WAITING[ready.reason] then
  return health("Progressing", ready.reason .. ": " .. ready.message)
end
return health("Degraded", ready.reason .. ": " .. ready.message)
