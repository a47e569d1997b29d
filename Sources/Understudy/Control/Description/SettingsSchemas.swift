import Emulation
import JSON

// Settings.
extension NamedSchema {
    static let settingsSchemas = [profile, settings, settingsChange]

    static let profile = NamedSchema(
        "Profile",
        Schema.word(
            "Whether the vendors behave as their documents say or as their clients show.",
            [BehaviourProfile.documented.rawValue, BehaviourProfile.observed.rawValue]))

    static let settings = NamedSchema(
        "Settings",
        Schema.answer(
            "How a sandbox wants the vendors to behave.",
            [
                "profile": profile.reference,
                "vendor_profiles": Schema.map("Profiles of single vendors, by id.", of: profile.reference),
                "seed": Schema.nullable(Schema.integer("What makes ids repeatable; null when they are not.", from: 0)),
                "switches": Schema.map(
                    "The values of all switches, by VENDOR.SWITCH.", of: ["type": "string"]),
            ]))

    static let settingsChange = NamedSchema(
        "SettingsChange",
        Schema.content(
            "What becomes of the settings; what is not named stays.",
            [
                "profile": Schema.either(
                    "The profile of all vendors, or those of single ones by id; null takes one back.",
                    profile.reference,
                    Schema.map("Profiles by vendor.", of: Schema.nullable(profile.reference))),
                "switches": Schema.map(
                    "Values by VENDOR.SWITCH; null leaves a switch to the profile.",
                    of: ["type": ["string", "number", "null"]]),
                "seed": Schema.nullable(
                    Schema.integer("What makes ids repeatable; null makes them unpredictable.", from: 0, to: .max)),
            ]))
}
