import Emulation
import JSON
import Testing

extension VendorConformance {
    /// Checks that the vendor has these actions with these members, and that each is refused without one it needs.
    package func checkActions() async throws {
        let listed = try mounted().actions
        #expect(
            listed.map { action in
                ([action.name] + action.members.map { $0.name + ($0.isRequired ? "!" : "") }).joined(separator: " ")
            } == actions)
        let world = try await world()
        for action in listed {
            let needed = action.members.filter(\.isRequired)
            for missing in needed {
                let others = needed.filter { $0.name != missing.name }.map { ($0.name, JSON.string("x")) }
                let answer = try await world.control(
                    .post, "state/\(id)/\(action.name)", JSON.object(JSONObject(others)).text)
                answer.expect(400)
                #expect(
                    answer.json["error"]?["message"]?.string
                        == "action \(action.name) needs the member \(missing.name): \(missing.about)")
            }
        }
    }
}
