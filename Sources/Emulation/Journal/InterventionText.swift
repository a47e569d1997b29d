package import JSON

/// Interventions in one line, as lists, logs and terminals show them.
package enum InterventionText {
    /// The line for the member `intervention` of an entry: a text, or a list of texts and objects; `nil` for nothing.
    package static func line(_ intervention: JSON?) -> String? {
        guard let intervention else { return nil }
        let lines = (intervention.array ?? [intervention]).compactMap(text)
        return lines.isEmpty ? nil : lines.joined(separator: "; ")
    }

    /// A text as it is; of an object the members that are no lists and objects, such as “claim override nonce, of id”.
    private static func text(_ value: JSON) -> String? {
        guard let members = value.object else { return value.string }
        let words = members.compactMap { member -> String? in
            guard member.value.array == nil, member.value.object == nil else { return nil }
            return "\(member.name.replacing("_", with: " ")) \(member.value.string ?? member.value.text)"
        }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}
