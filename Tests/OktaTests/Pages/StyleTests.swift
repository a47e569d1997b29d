import Foundation
import Testing

@testable import Okta

@Suite("The colours of the pages") struct StyleTests {
    /// The custom properties of the light theme and, where they differ, of the dark one.
    private func themes() throws -> [[String: String]] {
        String(decoding: try OktaPage.style().body, as: UTF8.self).components(separatedBy: ":root").dropFirst().map {
            block in
            let pairs = block.prefix { $0 != "}" }.matches(of: /--([a-z-]+): (#[0-9a-f]+);/)
            return Dictionary(pairs.map { (String($0.1), String($0.2)) }, uniquingKeysWith: { _, last in last })
        }
    }

    @Test(
        "text stands out from its ground, in both themes",
        arguments: [
            ("text", "ground"), ("text", "card"), ("text", "soft"), ("quiet", "ground"), ("quiet", "card"),
            ("quiet", "soft"),
            ("accent", "card"), ("accent", "soft"), ("on-accent", "accent"), ("on-accent", "hover"),
            ("refused", "refused-ground"),
            ("amber", "amber-ground"), ("amber", "card"), ("amber", "soft"), ("fine", "card"), ("fine", "soft"),
        ])
    func text(_ text: String, _ ground: String) throws {
        #expect(try themes().count == 2)
        for theme in try themes() {
            #expect(try contrast(theme, text, ground) >= 4.5, "\(theme[text] ?? "") on \(theme[ground] ?? "")")
        }
    }

    @Test("the edge of a field can be seen, in both themes") func edges() throws {
        for theme in try themes() { #expect(try contrast(theme, "edge", "card") >= 3) }
    }

    @Test("the measure is right") func measure() throws {
        #expect(try contrast(["a": "#000", "b": "#fff"], "a", "b") == 21)
        // The grey that just fails 4.5:1 on white.
        #expect(abs(try contrast(["a": "#777777", "b": "#fff"], "a", "b") - 4.48) < 0.01)
    }

    /// The contrast ratio of WCAG 2.2.
    private func contrast(_ theme: [String: String], _ one: String, _ other: String) throws -> Double {
        let lights = try [luminance(#require(theme[one])), luminance(#require(theme[other]))].sorted()
        return (lights[1] + 0.05) / (lights[0] + 0.05)
    }

    private func luminance(_ colour: String) throws -> Double {
        var digits = Array(colour.dropFirst())
        if digits.count == 3 { digits = digits.flatMap { [$0, $0] } }
        let parts = try [0, 2, 4].map { start in
            let value = try Double(#require(Int(String(digits[start...start + 1]), radix: 16))) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
}
