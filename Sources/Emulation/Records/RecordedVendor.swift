package import JSON

/// A vendor that describes its state once, as records; export and import follow from that.
package protocol RecordedVendor: Vendor {
    /// Lists the members of the state in export order; what is read overlays the state.
    func code(_ state: inout State, _ coder: inout RecordCoder)
}

extension RecordedVendor {
    package func export(_ state: State, _ extent: StateExtent) -> JSON? {
        var coder = RecordCoder(writing: extent)
        var state = state
        code(&state, &coder)
        return extent == .whole || coder.hasChanges ? .object(coder.written) : nil
    }

    package func write(_ state: inout State, to rows: RowWriter) {
        var coder = RecordCoder(writing: rows, at: Self.rowName)
        code(&state, &coder)
        coder.finishRows()
    }

    package func state(
        importing node: FixtureNode, _ extent: StateExtent, over current: State
    ) throws(FixtureProblem) -> State {
        var lister = RecordCoder(listing: .export(extent))
        var state = initialState
        code(&state, &lister)
        var coder = RecordCoder(reading: try node.mapping(lister.names), .export(extent))
        state = current
        code(&state, &coder)
        if let problem = coder.problem { throw problem }
        return state
    }
}
