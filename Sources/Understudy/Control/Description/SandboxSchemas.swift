import Emulation
import JSON

// Sandboxes.
extension NamedSchema {
    static let sandboxes = [sandboxList]

    static let sandboxList = NamedSchema(
        "Sandboxes",
        Schema.answer(
            "The sandboxes.",
            [
                "sandboxes": Schema.list(
                    "The standard one first, then the others by name.",
                    of: Schema.answer(
                        "A sandbox.",
                        [
                            "name": Schema.string("Its name.", pattern: SandboxName.pattern),
                            "age_seconds": Schema.integer("How long it has been there."),
                            "idle_seconds": Schema.integer("How long nobody has used it."),
                            "exchanges": Schema.integer("How many exchanges it has seen.", from: 0),
                            "journal_entries": Schema.integer("How many entries its journal keeps.", from: 0),
                            "journal_bytes": Schema.integer("An estimate of the memory they take.", from: 0),
                        ]))
            ]))
}
