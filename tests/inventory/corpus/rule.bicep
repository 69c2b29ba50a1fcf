resource rule 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  name: 'big'
  properties: {
    filterType: 'SqlFilter'
    sqlFilter: {
      sqlExpression: 'name = \'x\' AND Amount >= 1000'
    }
  }
}
resource other 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  name: 'glued'
  properties: { sqlFilter: { sqlExpression: 'a = ${b}' } }
}
