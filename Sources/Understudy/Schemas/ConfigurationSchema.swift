package import Emulation
import JSON

extension EditorSchema {
    /// The schema of `understudy.yaml`, with all vendors' switches by name.
    ///
    /// - Parameters:
    ///   - options: the options with a single text or number, each with what it is for.
    ///   - vendors: whose profiles and switches there are.
    package static func configuration(
        options: [(name: String, about: String)], vendors: [VendorLoader] = Catalog.vendors
    ) -> EditorSchema {
        let profile = Schema.word(
            "As the documents say, or as the clients show.", BehaviourProfile.allCases.map(\.rawValue))
        var members = JSONObject(
            options.map { ($0.name, ["description": .string($0.about), "type": ["string", "number", "boolean"]]) })
        members["profile"] = Schema.either(
            "How the vendors behave: one word for all, or one a vendor.", profile,
            Schema.content("By vendor.", JSONObject(vendors.map { ($0.identity.id, profile) })))
        let switches = vendors.flatMap { vendor in
            vendor.switchDeclarations.map { ("\(vendor.identity.id).\($0.name)", $0.configured) }
        }
        members["switches"] = Schema.content("Single behaviours, which go before the profile.", JSONObject(switches))
        return EditorSchema(
            path: "schemas/configuration\(FixtureStore.schemaSuffix)", title: "Configuration",
            Schema.content("The options of understudy serve.", members))
    }
}

extension SwitchDeclaration {
    /// A value of the switch as a text, or as a number where its digits are one.
    fileprivate var configured: JSON {
        let numbers: JSON
        switch domain {
        case .choice(let words): numbers = ["enum": .array(words.compactMap { Int($0).map { JSON($0) } })]
        case .count: numbers = ["type": "integer", "minimum": 0]
        case .number(let range):
            numbers = ["type": "integer", "minimum": JSON(range.lowerBound), "maximum": JSON(range.upperBound)]
        case .hosts: return schema
        }
        if numbers["enum"]?.array?.isEmpty == true { return schema }
        return Schema.either(about, schema, numbers)
    }
}
