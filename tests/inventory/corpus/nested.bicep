param f string
resource t 'Microsoft.ServiceBus/namespaces/topics@2022-10-01-preview' = {
  name: 't'
  resource s 'subscriptions' = {
    name: 's'
    resource r 'rules' = {
      name: 'r1'
      properties: { correlationFilter: { label: 'x' } }
    }
    resource q 'rules' = [for i in range(0, 3): {
      name: 'r2'
      properties: { sqlFilter: { sqlExpression: 'b = 2' } }
    }]
    resource v 'rules' = {
      name: 'r3'
      properties: { sqlFilter: { sqlExpression: f } }
    }
  }
}
