import Emulation
import JSON

/// The schema of a vendor's `drills/*.yaml`.
struct DrillSchema {
    private let vendor: any AnyLoadedVendor

    init(_ vendor: any AnyLoadedVendor) {
        self.vendor = vendor
    }

    var schema: JSON {
        let id = vendor.identity.id
        let switches = JSONObject(vendor.switchDeclarations.map { ($0.name, $0.configured) })
        var schema =
            Schema.content(
                "A behaviour of the vendor for which an app is drilled, and what a correct client does then.",
                required: ["drill", "about", "vendor", "client", "source", "severity", "expect"],
                [
                    "drill": Schema.string("The name: the vendor, a hyphen, and the file's name.", pattern: "^\(id)-"),
                    "about": Schema.string("What happens to the app, in a sentence or two."),
                    "vendor": ["description": "The vendor in whose folder the file lies.", "const": .string(id)],
                    "client": Schema.string("What a correct client does."),
                    "source": Schema.string("Where that is known from, or what it rests on."),
                    "evidence": Schema.word("How well it is known.", Evidence.allCases.map(\.rawValue)),
                    "severity": Schema.word(
                        "high: users lose data, sessions or secrets; medium: it fails until a restart; low: waste.",
                        Drill.Severity.allCases.map(\.rawValue)),
                    "switches": Schema.content("Switches of the vendor.", switches),
                    "clock": ControlDocument.reference("Duration"),
                    "states": ScenarioSchema(vendor).states,
                    "reached": ControlDocument.reference("Criteria"),
                    "expect": Schema.list("What the journal must hold; all.", of: demand, atLeast: 1),
                ]
            ).object ?? [:]
        schema["anyOf"] = [["required": ["states"]], ["required": ["reached"]]]
        return .object(schema)
    }

    private var demand: JSON {
        Schema.content(
            "An expectation as journal/verify has it, and what a client does that breaks it.", required: ["otherwise"],
            Schema.joined(
                ControlDocument.members("Expectation"),
                ["otherwise": Schema.string("What such a client does, in a short sentence.")]))
    }
}
