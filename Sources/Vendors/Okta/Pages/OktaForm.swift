/// What a page can send, described once: its markup and the names in its JSON are both made of this.
///
/// A form goes to the address of its own page, query included, so that reloading leads back to the same sign-in.
struct OktaForm: Sendable {
    /// Names and values that go along unseen.
    var hidden: [(name: String, value: String)] = []
    /// What can be filled in and pressed, in the order of the focus.
    var parts: [Part]

    /// A control, or something around controls.
    indirect enum Part: Sendable {
        case control(OktaControl)
        /// A remark between controls.
        case note(String)
        /// Controls under a common name.
        case group(String, [Part])
        /// Controls that few need, behind a line that opens them.
        case folded(String, isOpen: Bool, [Part])
        /// Buttons beside each other.
        case row([OktaControl])
    }

    /// The names that the form can send, each once, in order.
    var names: [String] {
        (hidden.map(\.name) + parts.flatMap(\.names)).reduce(into: []) { names, name in
            if !names.contains(where: name.hasSameBytes) { names.append(name) }
        }
    }
}

extension OktaForm.Part {
    fileprivate var names: [String] {
        switch self {
        case .control(let control): [control.name]
        case .note: []
        case .group(_, let parts), .folded(_, _, let parts): parts.flatMap(\.names)
        case .row(let controls): controls.map(\.name)
        }
    }
}
