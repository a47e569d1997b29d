import Expectations
import JSON
import Testing

@testable import Emulation

@Suite("A member of an action") struct ActionFieldsTests {
    private enum Size: String, CaseIterable { case small, large }

    private func refusal(_ members: JSONObject, _ read: (inout FieldReader) -> Void) -> String? {
        do throws(ControlRefusal) {
            try Fields<ActionFields>(members).read(read)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("is refused with what was found and what would be right") func refusals() {
        expect(refusal([:]) { _ = $0.text("name") }, is: "member name is missing")
        expect(refusal(["on": 1]) { _ = $0.bool("on") }, is: "on is 1; expected a boolean")
        expect(
            refusal(["size": "huge"]) { _ = $0.choice("size", of: Size.self) },
            is: #"size is "huge"; expected small, large"#)
        expect(
            refusal(["name": ""]) { _ = $0.text("name", atLeast: 1) },
            is: "name is empty; expected at least 1 character")
        expect(
            refusal(["name": "long"]) { _ = $0.optionalText("name", atMost: 3) },
            is: "name has 4 characters; expected at most 3")
    }
}
