param sqlFilter string
// sqlFilter: { sqlExpression: 'a = 1' }
resource a 'Microsoft.Web/sites@2021-01-01' = { name: 'a', properties: { nodeSelector: 'a = 1' } }
