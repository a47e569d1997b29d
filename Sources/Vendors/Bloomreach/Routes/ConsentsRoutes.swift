import Emulation
import JSON

/// The consent categories. Source: POST is documented (SDK page), GET is what every SDK sends; a body is ignored.
extension Bloomreach {
    /// Returns the consent categories of a project.
    static func consents(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let categories = call.vendor.content[try call.project().token].consentCategories
        return .json(["success": true, "results": .array(categories.map(\.json))])
    }
}
