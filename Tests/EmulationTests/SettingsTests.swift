import Testing

@testable import Emulation

@Suite("Settings")
struct SettingsTests {
    private static let declarations = [
        SwitchDeclaration(
            "style", .choice(["plain", "loud"]), documented: "plain", observed: "loud", about: "", source: ""),
        SwitchDeclaration("limit", .count(orWord: "off"), documented: "off", observed: "3", about: "", source: ""),
    ]

    private func values(_ settings: Settings, vendor: String = "v") -> [String] {
        let values = settings.values(vendor: vendor, Self.declarations)
        return ["style", "limit"].map { values[$0] }
    }

    @Test("a switch by name beats the vendor's profile, which beats the profile of all")
    func precedence() {
        var settings = Settings()
        #expect(values(settings) == ["plain", "off"])
        settings.profile = .observed
        #expect(values(settings) == ["loud", "3"])
        settings.vendorProfiles["v"] = .documented
        #expect(values(settings) == ["plain", "off"])
        #expect(values(settings, vendor: "w") == ["loud", "3"])
        settings.switches["v.limit"] = "7"
        #expect(values(settings) == ["plain", "7"])
        #expect(values(settings, vendor: "w") == ["loud", "3"])
    }

    @Test(
        "a switch takes the values of its domain and no other",
        arguments: [
            ("style", "loud", true), ("style", "LOUD", false), ("style", "", false), ("limit", "0", true),
            ("limit", "off", true), ("limit", "-1", false), ("limit", "1.5", false), ("limit", "on", false),
            ("limit", "99999999999999999999", false),
        ])
    func domain(_ name: String, _ value: String, _ isAllowed: Bool) throws {
        let declaration = try #require(Self.declarations.first { $0.name == name })
        #expect(declaration.allows(value) == isAllowed)
    }

    @Test("a counting switch without a word takes numbers only")
    func count() {
        let declaration = SwitchDeclaration(
            "leeway", .count(orWord: nil), documented: "0", observed: "0", about: "", source: "")
        #expect(declaration.allows("10"))
        #expect(!declaration.allows("off"))
        #expect(declaration.allowedValues == "a whole number from 0")
    }

    @Test(
        "names that somebody may have meant are found",
        arguments: [
            ("stile", "; did you mean “style”?"), ("limits", "; did you mean “limit”?"),
            ("something-else", "; known are style, limit"),
        ])
    func nearest(_ name: String, _ hint: String) {
        #expect(Nearest.hint(to: name, among: ["style", "limit"]) == hint)
    }

    @Test(
        "of known names the first five are told",
        arguments: [
            ([], "; none is known"), (["a", ""], "; known are a, an empty text"),
            (["a", "b", "c", "d", "e", "f", "g"], "; known are a, b, c, d, e and 2 more"),
        ])
    func known(_ names: [String], _ told: String) {
        #expect(Nearest.known(names) == told)
    }

    @Test(
        "the distance of two words counts insertions, deletions and replacements",
        arguments: [
            ("", "", 0), ("a", "", 1), ("", "abc", 3), ("kitten", "sitting", 3), ("abc", "abc", 0), ("abc", "acb", 2),
        ])
    func distance(_ left: String, _ right: String, _ distance: Int) {
        #expect(Nearest.distance(left, right) == distance)
        #expect(Nearest.distance(right, left) == distance)
    }
}
