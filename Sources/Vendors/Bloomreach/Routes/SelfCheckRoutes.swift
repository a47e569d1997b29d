import Emulation
import JSON
import Wire

/// The self-check of an app's push setup. Source: documented (SDK page), members observed in both SDKs.
extension Bloomreach {
    /// Accepts the request for a push notification but never sends one: there is no push service.
    static func sendSelfCheck(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (body, ids) = try call.customerBody()
        let (push, platform, application) = try body.read { body in
            let (push, platform) = (body.text("push_notification_id"), body.text("platform"))
            if !["ios", "android", "huawei"].contains(platform) {
                body.refuse("platform", "platform is \(platform.shown); expected ios, android or huawei")
            }
            return (push, platform, body.optionalText("application_id"))
        }
        let owner = try call.bind(ids)
        let check: JSON = [
            "customer_ids": owner.json, "push_notification_id": .string(push), "platform": .string(platform),
            "application_id": JSON(application), "timestamp": .seconds(call.moment.unixSeconds),
        ]
        let project = try call.project().token
        state.change(project) { $0.add(selfCheck: check) }
        return .json(["success": true])
    }
}
