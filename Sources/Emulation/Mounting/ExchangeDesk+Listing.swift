import Tokens

/// What lists, files and commands ask of the vendor.
extension ExchangeDesk: MountedVendor {
    @usableFromInline var identity: VendorIdentity { V.identity }
    @usableFromInline var failures: [FailureListing] { catalog.listing }
    @usableFromInline var switchDeclarations: [SwitchDeclaration] { V.Switches.declarations }
    @usableFromInline var actions: [ActionListing] { V.actions.map(\.listing) }
    @usableFromInline var tokenKinds: [TokenKind] { vendor.tokenMinter.map { type(of: $0).tokenKinds } ?? [] }
    @usableFromInline var requestFacts: [RequestFact] { vendor.tokenMinter.map { type(of: $0).requestFacts } ?? [] }
    @usableFromInline var samples: [SampleCredential] { vendor.tokenMinter?.samples ?? [] }
    @usableFromInline var sharedSecrets: [SharedSecret] { vendor.tokenMinter?.sharedSecrets ?? [] }
    @usableFromInline var secretTexts: [String] { vendor.secretTexts }

    @usableFromInline var routes: [RouteListing] {
        table.map {
            RouteListing(
                id: $0.id, endpoints: $0.endpoints, evidence: $0.evidence, observed: $0.observed, source: $0.source,
                bodyLimit: $0.bodyLimit)
        }
    }

    @usableFromInline
    func sampleRequest(at moment: Moment) throws(MintRefusal) -> SampleRequest {
        try minter().sampleRequest(at: moment)
    }

    func minter() throws(MintRefusal) -> any MintsTokens<V.State, V.Switches, V.Failure> {
        guard let minter = vendor.tokenMinter else { throw MintRefusal("\(V.identity.title) mints no tokens") }
        return minter
    }

    @usableFromInline
    func putInForce() -> any AnyVendorInForce { VendorInForce(self) }
}
